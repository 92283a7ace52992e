//! Headers that repeat values of a body: how a value is spelled in a header, and those that a tool asks for.
//!
//! The Base64 spelling of values that a header cannot carry as they are.

use super::tool_headers::{annotations, value_at};
use crate::engine::{RuleContext, SeenMessage, Span, TAKEN_OUT, Violation, base64, quoted, shown, text_of};
use crate::rule::{Need, Rule};
use std::borrow::Cow;
use transcript::json::{Json, JsonKind};
use transcript::session::{Headers, header};

const OURS: Rule = Rule {
    span: Span::MODERN,
    needs: &[Need::Headers],
    source: "basic/transports/streamable-http#custom-headers-from-tool-parameters",
    ..Rule::BLANK.client()
};

pub(super) static MIRROR: Rule = Rule {
    id: "http.param.mirror",
    title: "A call repeats in headers the parameters that its tool marks",
    why: "Gateways route by these headers, and servers refuse a call whose headers lack a value or differ from it.",
    fix: "Send Mcp-Param-{name} for every marked parameter that the arguments hold.",
    ..OURS
};

pub(super) static OMIT: Rule = Rule {
    id: "http.param.omit",
    title: "A parameter that is null or missing has no header",
    why: "The server expects none, and a gateway would act on a value that the call does not have.",
    fix: "Leave the header out.",
    ..OURS
};

pub(super) static ENCODING: Rule = Rule {
    id: "http.param.encoding",
    source: "basic/transports/streamable-http#value-encoding",
    title: "Headers spell parameters as digits, true or false, plain text, or Base64",
    why: "Other spellings change on the way, are cut at a line break, or do not compare as equal.",
    fix: "Write =?base64?…?= around the Base64 of what is not plain text, and integers in decimal digits.",
    ..OURS
};

/// What a header makes of a value.
pub(super) enum Spelled {
    /// The value, spelled as it should be.
    Right,
    /// The value, as far as can be known, in a spelling of its own: what is wrong with it.
    Badly(String),
    /// Another value: which.
    Other(String),
}

/// Compares a header with the text that it repeats.
pub(super) fn compare(header: &str, text: &[u8]) -> Spelled {
    let plain = std::str::from_utf8(text).ok();
    if is_safe(text) {
        return match encoded(header) {
            _ if Some(header) == plain => Spelled::Right,
            Some(Some(bytes)) if bytes == text => Spelled::Right,
            Some(None) => Spelled::Badly(format!("{} holds no Base64", quoted(header))),
            Some(Some(bytes)) => Spelled::Other(quoted(&String::from_utf8_lossy(&bytes))),
            None => Spelled::Other(quoted(header)),
        };
    }
    match encoded(header) {
        Some(Some(bytes)) if bytes == text => Spelled::Right,
        Some(Some(bytes)) if Some(header) != plain => {
            Spelled::Other(quoted(&String::from_utf8_lossy(&bytes)))
        }
        _ => Spelled::Badly(format!("{} does not survive as it is and is not in Base64", quoted(header))),
    }
}

/// What stands between the marks of the Base64 spelling; inside, none where it is not Base64.
fn encoded(header: &str) -> Option<Option<Vec<u8>>> {
    Some(base64(header.strip_prefix("=?base64?")?.strip_suffix("?=")?))
}

/// Whether a text survives in a header as it is.
fn is_safe(text: &[u8]) -> bool {
    let visible = |byte: &u8| matches!(byte, 0x20..=0x7e | b'\t');
    let edge = |byte: Option<&u8>| byte.is_some_and(|byte| matches!(byte, b' ' | b'\t'));
    let like_encoded = text.starts_with(b"=?base64?") && text.ends_with(b"?=");
    text.iter().all(visible) && !edge(text.first()) && !edge(text.last()) && !like_encoded
}

/// Judges the headers that a call's tool asks for: what a server has to refuse, if anything.
pub(super) fn params(
    message: &SeenMessage<'_>,
    headers: &Headers<'_>,
    at: &RuleContext<'_>,
) -> Option<String> {
    let name = message.param("name").and_then(text_of)?;
    let Some(tool) = at.facts.tool(&name) else {
        let why = "the tool's definition is not in the recording; tools/list would show it";
        at.inconclusive(&MIRROR, why);
        return None;
    };
    let read = annotations(tool.member("inputSchema")?);
    if read.are_invalid() {
        return None;
    }
    let arguments = message.param("arguments");
    let mut fault = None;
    for field in &read.fields {
        let name = format!("Mcp-Param-{}", field.header);
        let sent = header(headers, &name);
        let value = arguments.and_then(|arguments| value_at(arguments, &field.path));
        let wrong = match (value.filter(|value| value.kind() != JsonKind::Null), sent) {
            (None, None) => {
                at.pass(&OMIT);
                None
            }
            (None, Some(sent)) => {
                let wrong = format!("{name} is {}, and the call has no such value", quoted(sent));
                at.fail(&OMIT, wrong.clone());
                Some(wrong)
            }
            (Some(value), None) => {
                let wrong = format!("{name} is missing for the value {}", shown(value));
                let violation = Violation::new(wrong.clone()).inside(value);
                at.lacks_header(&MIRROR, headers, &name, violation);
                Some(wrong).filter(|_| at.would_show(headers, &name))
            }
            (Some(value), Some(sent)) => mirrored(&name, sent, value, at),
        };
        fault = fault.or(wrong);
    }
    fault
}

/// Compares a header with the argument that it repeats: what a server has to refuse, if anything.
fn mirrored(name: &str, sent: &str, value: Json<'_>, at: &RuleContext<'_>) -> Option<String> {
    if at.facts.hides(sent) {
        at.inconclusive(&MIRROR, TAKEN_OUT);
        return None;
    }
    let text: Cow<'_, [u8]> = match (value.as_text(), value.kind()) {
        (Some(text), _) => text.decode(),
        (None, JsonKind::Number | JsonKind::Bool) => value.text().as_bytes().into(),
        _ => return None,
    };
    let same_in_other_words = match value.kind() {
        JsonKind::Number => is_same_number(sent, value.text()),
        JsonKind::Bool => sent.eq_ignore_ascii_case(value.text()),
        _ => false,
    };
    let integer = value.kind() != JsonKind::Number || !value.text().contains(['.', 'e', 'E']);
    match compare(sent, &text) {
        Spelled::Right if integer => {
            at.pass(&MIRROR);
            at.pass(&ENCODING);
            None
        }
        _ if same_in_other_words => {
            at.pass(&MIRROR);
            if sent.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
                at.pass(&ENCODING);
            } else {
                let wrong = format!("{name} spells {} as {}", shown(value), quoted(sent));
                at.fail(&ENCODING, Violation::new(wrong).inside(value));
            }
            None
        }
        Spelled::Right => None,
        Spelled::Badly(wrong) => {
            let wrong = format!("{name}: {wrong}");
            at.fail(&ENCODING, Violation::new(wrong.clone()).inside(value));
            Some(wrong)
        }
        Spelled::Other(other) => {
            let wrong = format!("{name} is {other}, and the call has {}", shown(value));
            at.fail(&MIRROR, Violation::new(wrong.clone()).inside(value));
            Some(wrong)
        }
    }
}

/// Whether a header denotes the number of the body in another spelling.
fn is_same_number(sent: &str, number: &str) -> bool {
    match (Json::parse(sent), Json::parse(number)) {
        (Ok(sent), Ok(number)) => sent.kind() == JsonKind::Number && sent.same(number),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Spelled, compare};

    #[test]
    fn what_a_header_cannot_carry_is_in_base64() {
        let right = |header: &str, text: &str| matches!(compare(header, text.as_bytes()), Spelled::Right);
        let badly = |header: &str, text: &str| matches!(compare(header, text.as_bytes()), Spelled::Badly(_));
        let other = |header: &str, text: &str| matches!(compare(header, text.as_bytes()), Spelled::Other(_));
        assert!(right("us-west1", "us-west1") && right("=?base64?dXMtd2VzdDE=?=", "us-west1"));
        assert!(right("=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, 世界"));
        assert!(right("=?base64?IHBhZGRlZCA=?=", " padded "));
        assert!(right("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?literal?="));
        assert!(badly("=?base64?literal?=", "=?base64?literal?=") && badly("Hello, 世界", "Hello, 世界"));
        assert!(badly("padded", " padded ") && badly("=?base64?!?=", "x"));
        assert!(other("us-east1", "us-west1") && other("=?base64?dXMtd2VzdDE=?=", "x"));
    }
}
