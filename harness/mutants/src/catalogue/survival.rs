//! Faults about bytes that are no transcript, and about importers that cannot be relied upon.

use super::{Mutant, Mutation, mutant, trivial};
use std::cell::Cell;
use verdict::answer::{Answer, FailureKind};

pub(super) const MUTANTS: &[Mutant] = &[
    trivial(
        "survival/rejects-everything",
        &["EQ-COUNT"],
        "rejects every transcript",
        Mutation::Answer(|_| Some(rejection("invalid-json"))),
    ),
    trivial(
        "survival/rejects-nothing",
        &["SRV-BYTES"],
        "takes what it cannot read for an empty session",
        Mutation::Answer(|asked| {
            let empty = || {
                Answer::Meaning(verdict::meaning::Meaning::written(
                    "{\"events\": [], \"authorization_discovery\": null}".to_owned(),
                ))
            };
            matches!(asked.answer, Answer::Rejection { .. }).then(empty)
        }),
    ),
    trivial(
        "survival/partial",
        &["SRV-BYTES"],
        "gives what it read before a fault as the whole session",
        Mutation::Answer(|asked| asked.found.refused.as_ref().and_then(|_| asked.found.so_far())),
    ),
    mutant(
        "survival/partial-when-cut",
        &["SRV-BYTES"],
        "gives what it read of a file that was cut off as the whole session",
        Mutation::Answer(|asked| {
            asked
                .found
                .refused
                .as_ref()
                .filter(|(code, _)| code == "truncated")
                .and_then(|_| asked.found.so_far())
        }),
    ),
    trivial(
        "survival/one-code-for-all",
        &["SRV-BYTES"],
        "names every rejection invalid-json",
        Mutation::Answer(|asked| {
            matches!(asked.answer, Answer::Rejection { .. }).then(|| {
                let code = Some("invalid-json".to_owned());
                Answer::Rejection { code, message: "no".to_owned() }
            })
        }),
    ),
    mutant(
        "survival/bad-bytes-replaced",
        &["SRV-BYTES"],
        "puts U+FFFD for bytes that are no UTF-8",
        Mutation::Bytes(|_, bytes| match String::from_utf8_lossy(bytes) {
            std::borrow::Cow::Owned(text) => Some(text.into_bytes()),
            std::borrow::Cow::Borrowed(_) => None,
        }),
    ),
    mutant(
        "survival/bad-bytes-dropped",
        &["SRV-BYTES"],
        "drops bytes that are no UTF-8",
        Mutation::Bytes(|_, bytes| {
            let text = String::from_utf8_lossy(bytes);
            matches!(text, std::borrow::Cow::Owned(_)).then(|| text.replace('\u{fffd}', "").into_bytes())
        }),
    ),
    mutant(
        "survival/latin-1",
        &["SRV-BYTES"],
        "reads a file that is no UTF-8 as Latin-1",
        Mutation::Bytes(|_, bytes| {
            let latin = || bytes.iter().map(|&byte| char::from(byte)).collect::<String>();
            std::str::from_utf8(bytes).err().map(|_| latin().into_bytes())
        }),
    ),
    mutant(
        "survival/surrogate-bytes",
        &["SRV-BYTES"],
        "takes the bytes of a surrogate for UTF-8",
        Mutation::Bytes(|_, bytes| {
            let at = bytes.windows(2).position(|pair| pair[0] == 0xed && pair[1] >= 0xa0)?;
            Some([&bytes[..at], "\u{fffd}".as_bytes(), bytes.get(at + 3..)?].concat())
        }),
    ),
    mutant(
        "survival/overlong",
        &["SRV-BYTES"],
        "takes overlong forms for UTF-8",
        Mutation::Bytes(|_, bytes| {
            let at =
                bytes.windows(2).position(|pair| matches!(pair[0], 0xc0 | 0xc1) && pair[1] & 0xc0 == 0x80)?;
            let byte = (bytes[at] & 0x1f) << 6 | bytes[at + 1] & 0x3f;
            Some([&bytes[..at], &[byte], &bytes[at + 2..]].concat())
        }),
    ),
    mutant(
        "survival/utf-16",
        &["SRV-BYTES"],
        "reads UTF-16 where a file begins with its mark",
        Mutation::Bytes(|_, bytes| {
            let rest = bytes.strip_prefix(b"\xff\xfe")?;
            let units: Vec<u16> =
                rest.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
            Some(String::from_utf16_lossy(&units).into_bytes())
        }),
    ),
    mutant(
        "survival/padding",
        &["SRV-BYTES"],
        "drops NUL bytes at the end of a file",
        Mutation::Bytes(|_, bytes| {
            let kept = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1);
            (kept < bytes.len()).then(|| bytes[..kept].to_vec())
        }),
    ),
    mutant(
        "survival/no-nul",
        &["SRV-BYTES"],
        "drops NUL bytes wherever they stand",
        Mutation::Bytes(|_, bytes| {
            bytes.contains(&0).then(|| bytes.iter().copied().filter(|&byte| byte != 0).collect())
        }),
    ),
    mutant(
        "survival/c-file",
        &["SRV-BYTES"],
        "ends a file at its first NUL",
        Mutation::Bytes(|_, bytes| bytes.iter().position(|&byte| byte == 0).map(|at| bytes[..at].to_vec())),
    ),
    mutant(
        "survival/empty-document",
        &["SRV-BYTES"],
        "takes an empty file for an empty session",
        Mutation::Bytes(|format, bytes| bytes.is_empty().then(|| empty(format))?),
    ),
    mutant(
        "survival/blank-document",
        &["SRV-BYTES"],
        "takes a file of white space for an empty session",
        Mutation::Bytes(|format, bytes| {
            (!bytes.is_empty() && bytes.iter().all(u8::is_ascii_whitespace)).then(|| empty(format))?
        }),
    ),
    mutant(
        "survival/rest-ignored",
        &["SRV-BYTES"],
        "does not look at what follows the document",
        Mutation::Text(|format, text| {
            let mut scanner = transcript::json::Scanner::new(text);
            scanner.space();
            scanner.value().ok()?;
            let document = !matches!(format, "jsonrpc" | "mcp-replay");
            (document && !text[scanner.at()..].trim().is_empty()).then(|| text[..scanner.at()].to_owned())
        }),
    ),
    mutant(
        "survival/any-bracket-closes",
        &["SRV-BYTES"],
        "takes either closing bracket for the other at the end of a document",
        Mutation::Text(|_, text| {
            let (rest, other) = match text.trim_end().as_bytes().last()? {
                b']' => (text.trim_end().strip_suffix(']')?, '}'),
                b'}' => (text.trim_end().strip_suffix('}')?, ']'),
                _ => return None,
            };
            let new = format!("{rest}{other}");
            let is = |text: &str| transcript::json::Json::parse(text).is_ok();
            (!is(text) && is(&new)).then_some(new)
        }),
    ),
    mutant(
        "survival/closed-for-it",
        &["SRV-BYTES"],
        "closes the brackets that a cut file leaves open",
        Mutation::Text(|format, text| {
            let (mut open, mut quoted, mut escaped) = (Vec::new(), false, false);
            for byte in text.bytes() {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' if quoted => escaped = true,
                    b'"' => quoted = !quoted,
                    b'{' if !quoted => open.push('}'),
                    b'[' if !quoted => open.push(']'),
                    b'}' | b']' if !quoted => drop(open.pop()),
                    _ => {}
                }
            }
            let document = !matches!(format, "jsonrpc" | "mcp-replay");
            let short =
                document && (1..64).contains(&open.len()) && transcript::json::Json::parse(text).is_err();
            short.then(|| {
                format!("{text}{}{}", if quoted { "\"" } else { "" }, open.iter().rev().collect::<String>())
            })
        }),
    ),
    mutant(
        "survival/last-line-forgiven",
        &["SRV-BYTES"],
        "passes over a last line that is no JSON",
        Mutation::Text(|format, text| {
            let at = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
            let lines = matches!(format, "jsonrpc" | "mcp-replay");
            (lines && transcript::json::Json::parse(&text[at..]).is_err()).then(|| text[..at].to_owned())
        }),
    ),
    mutant(
        "survival/small-stack",
        &["SRV-DEPTH"],
        "dies of 1,000 levels of nesting",
        Mutation::Answer(|asked| {
            let (mut depth, mut deepest) = (0_usize, 0);
            for byte in asked.bytes {
                match byte {
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                deepest = deepest.max(depth);
            }
            let message = "its stack overflowed".to_owned();
            (deepest > 1_000).then_some(Answer::Broken { how: FailureKind::Crash, message })
        }),
    ),
    mutant(
        "survival/slow-brackets",
        &["SRV-DEPTH"],
        "takes time that doubles with each open bracket",
        Mutation::Answer(|asked| {
            let open = asked.bytes.iter().filter(|byte| matches!(byte, b'[')).count();
            let shut = asked.bytes.iter().filter(|byte| matches!(byte, b']')).count();
            let message = "it did not come back".to_owned();
            (open > shut + 1_000).then_some(Answer::Broken { how: FailureKind::Timeout, message })
        }),
    ),
    mutant(
        "survival/crashes-on-types",
        &["SRV-BYTES"],
        "dies where a member has a type that it did not expect",
        Mutation::Answer(|asked| {
            let (code, _) = asked.found.refused.as_ref()?;
            let message = "a type error".to_owned();
            (code == "wrong-type" || code == "wrong-document")
                .then_some(Answer::Broken { how: FailureKind::Crash, message })
        }),
    ),
    mutant(
        "survival/crashes-on-arrays",
        &["SRV-BYTES", "RPL-NOISE"],
        "dies of an array where a message belongs",
        Mutation::Answer(|asked| {
            let (code, _) = asked.found.refused.as_ref()?;
            let message = "'list' object has no attribute 'get'".to_owned();
            (code == "batch").then_some(Answer::Broken { how: FailureKind::Crash, message })
        }),
    ),
    mutant(
        "survival/crashes-on-nothing",
        &["SRV-BYTES"],
        "dies of a session without messages",
        Mutation::Answer(|asked| {
            let empty = asked.found.entries.iter().all(|seen| seen.said.is_none());
            let message = "index out of range".to_owned();
            (empty && asked.found.refused.is_none())
                .then_some(Answer::Broken { how: FailureKind::Crash, message })
        }),
    ),
    mutant(
        "survival/crashes-on-surrogates",
        &["SRV-TWICE"],
        "dies of a lone surrogate",
        Mutation::Answer(|asked| {
            let text = asked.answer_text()?;
            let message = "surrogates not allowed".to_owned();
            (text.contains("\\ud8") || text.contains("\\udc") || text.contains("\\ude"))
                .then_some(Answer::Broken { how: FailureKind::Crash, message })
        }),
    ),
    mutant(
        "survival/whims",
        &["SRV-SAME"],
        "drops the first notification every other time",
        Mutation::Answer(|asked| {
            // By thread, so that what becomes of it does not depend on the other threads.
            thread_local! {
                static AGAIN: Cell<bool> = const { Cell::new(false) };
            }
            AGAIN.replace(!AGAIN.get()).then(|| {
                asked.found.answer(&super::FAITHFUL, |outcome| {
                    let kind = transcript::meaning::EventKind::Notification;
                    let first = outcome.events.iter().position(|event| event.kind == kind);
                    outcome.retain(|_, index| Some(index) != first);
                })
            })
        }),
    ),
];

/// A rejection by an importer that should not have made one. It names no code, as importers may: what it rejects rightly
/// it must not fail for a word.
pub(super) fn rejection(why: &str) -> Answer {
    Answer::Rejection { code: None, message: why.to_owned() }
}

/// An empty session of a document format.
fn empty(format: &str) -> Option<Vec<u8>> {
    let text = match format {
        "inspector" => "[]".to_owned(),
        "har" => r#"{"log":{"entries":[]}}"#.to_owned(),
        "streamable-http" | "http-sse" => format!(r#"{{"transport":"{format}","entries":[]}}"#),
        _ => return None,
    };
    Some(text.into_bytes())
}
