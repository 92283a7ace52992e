//! The keys of `_meta`: their grammar, and the three that OpenTelemetry has.
//!
//! The `_meta` of params, of results and of what results list. Refuses to look into arguments, structured content and
//! schemas, where a member of that name is somebody's own.

use crate::engine::{
    Family, OnMessage, Revision, RuleContext, SeenMessage, Span, Trigger, Violation, is_token, quoted, shown,
};
use crate::rule::Rule;
use transcript::json::Json;

pub(super) const FAMILY: Family = Family {
    name: "meta-keys",
    title: "Keys of `_meta`",
    rules: &[&KEY],
    triggers: &[Trigger::Messages],
    visitor: || Box::new(OnMessage(judge)),
};

static KEY: Rule = Rule {
    id: "meta.key-format",
    span: Span::from(Revision::V2025_06_18),
    source: "basic/index#_meta",
    title: "A key of `_meta` is a name with an optional prefix of labels before a slash",
    why: "Keys outside the grammar may clash with those that the protocol reserves, and gateways drop them.",
    fix: "Name keys like com.example/my-key: labels begin with a letter, names with a letter or digit.",
    ..Rule::BLANK
};

/// The lists of results whose items may have `_meta`.
const LISTS: &[&str] = &["tools", "resources", "resourceTemplates", "prompts", "content", "contents"];

fn judge(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    keys(message.meta, at);
    let Some(outcome) = message.raw.outcome().filter(|outcome| outcome.may_hold("_meta")) else { return };
    keys(outcome.member("_meta"), at);
    for item in LISTS.iter().filter_map(|list| outcome.member(list)).flat_map(Json::items) {
        keys(item.member("_meta"), at);
    }
}

fn keys(meta: Option<Json<'_>>, at: &RuleContext<'_>) {
    for (key, value) in meta.into_iter().flat_map(Json::members) {
        let key = key.to_str().unwrap_or_else(|| String::from_utf8_lossy(&key.decode()).into_owned().into());
        if at.revision >= Some(Revision::V2026_07_28)
            && let Some(sound) = trace_context(&key, value)
        {
            at.check(&KEY, sound, || {
                Violation::new(format!("`{key}` is not as W3C spells it: {}", shown(value))).inside(value)
            });
            continue;
        }
        at.check(&KEY, is_key(&key), || {
            Violation::new(format!("{} is not a key of `_meta`", quoted(&key))).inside(value)
        });
    }
}

/// Whether a key has the grammar: an optional prefix of labels before a slash, and a name, which may be empty.
pub(super) fn is_key(key: &str) -> bool {
    // Most have neither a prefix nor anything but letters.
    if key.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return true;
    }
    match key.split_once('/') {
        Some((prefix, name)) => is_prefix(prefix) && is_name(name),
        None => is_name(key),
    }
}

/// Whether a key has the grammar and a prefix.
pub(super) fn is_prefixed_key(key: &str) -> bool {
    key.contains('/') && is_key(key)
}

fn is_prefix(prefix: &str) -> bool {
    prefix.split('.').map(str::as_bytes).all(|label| {
        label.first().is_some_and(u8::is_ascii_alphabetic)
            && label.last().is_some_and(u8::is_ascii_alphanumeric)
            && label.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'-')
    })
}

fn is_name(name: &str) -> bool {
    let name = name.as_bytes();
    let [first, .., last] = name else { return name.iter().all(u8::is_ascii_alphanumeric) };
    first.is_ascii_alphanumeric()
        && last.is_ascii_alphanumeric()
        && name.iter().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.'))
}

/// For a key of OpenTelemetry, whether its value is spelled as the W3C has it.
fn trace_context(key: &str, value: Json<'_>) -> Option<bool> {
    let sound: fn(&str) -> bool = match key {
        "traceparent" => is_traceparent,
        "tracestate" => |text| is_list(text, |name| name.starts_with(|c: char| c.is_ascii_alphanumeric())),
        "baggage" => |text| is_list(text, |name| !name.is_empty() && name.chars().all(is_token)),
        _ => return None,
    };
    Some(value.as_text().and_then(|text| text.to_str()).is_some_and(|text| sound(&text)))
}

/// `00-<32 hex>-<16 hex>-<2 hex>`, in lower case; later versions may add to it.
fn is_traceparent(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let hex = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let [version, trace, parent, flags, rest @ ..] = parts.as_slice() else { return false };
    hex(version, 2)
        && *version != "ff"
        && hex(trace, 32)
        && hex(parent, 16)
        && hex(flags, 2)
        && [trace, parent].iter().all(|part| part.bytes().any(|byte| byte != b'0'))
        && (rest.is_empty() || *version != "00")
}

/// `name=value` between commas; what stands behind a semicolon belongs to the value.
fn is_list(text: &str, name_is_sound: fn(&str) -> bool) -> bool {
    text.split(',').map(str::trim).filter(|member| !member.is_empty()).all(|member| {
        member.split_once('=').is_some_and(|(name, value)| {
            name_is_sound(name.trim()) && value.chars().all(|c| matches!(c, ' '..='~' | '\t'))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{is_key, is_list, is_prefixed_key, is_traceparent};
    use crate::engine::is_token;

    #[test]
    fn keys_have_a_grammar() {
        for key in ["progressToken", "a", "com.example/", "com.example/x_y.z", "x-1.b/c", "", "9", "openai/t"]
        {
            assert!(is_key(key), "{key}");
        }
        for key in ["_own", "x_", "1a.b/c", "a-/b", "a..b/c", "/x", "a/b/c", "a b", "é", "com_x/y"] {
            assert!(!is_key(key), "{key}");
        }
        assert!(is_prefixed_key("io.example/ui") && !is_prefixed_key("ui"));
    }

    #[test]
    fn traces_are_spelled_as_the_w3c_has_it() {
        assert!(is_traceparent("00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"));
        assert!(is_traceparent("01-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-more"));
        for wrong in [
            "00-0AF7651916CD43DD8448EB211C80319C-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "ff-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
            "0af7651916cd43dd8448eb211c80319c",
        ] {
            assert!(!is_traceparent(wrong), "{wrong}");
        }
        let is_baggage = |text| is_list(text, |name| !name.is_empty() && name.chars().all(is_token));
        assert!(is_baggage("userId=alice, serverNode=DF%2028;ttl=3") && !is_baggage("alice"));
    }
}
