//! Mistakes about bytes that are not a transcript, and importers that cannot be relied upon.

use crate::on_reading::{break_if, every_other_time, on_answer};
use crate::on_text::{Shape, empty, on_bytes, on_lines_text, on_text};
use crate::policy::CONTRACT;
use std::borrow::Cow;
use transcript::json::{Json, Scanner};
use transcript::meaning::EventKind;
use verdict::answer::FailureKind;

mutants! {
    "survival/partial-when-cut" ["SRV-BYTES"] "gives what it read of a file that was cut off as the whole session"
        => on_answer(|original| {
            original.reading.failure.as_ref().filter(|failure| failure.code == "truncated")?;
            CONTRACT.outcome(&original.reading.entries).ok().map(|outcome| outcome.answer())
        });
    "survival/bad-bytes-replaced" ["SRV-BYTES"] "puts U+FFFD for bytes that are not UTF-8"
        => on_bytes(|_, bytes| match String::from_utf8_lossy(bytes) {
            Cow::Owned(text) => Some(text.into_bytes()),
            Cow::Borrowed(_) => None,
        });
    "survival/surrogate-bytes" ["SRV-BYTES"] "takes the bytes of a surrogate for UTF-8"
        => on_bytes(|_, bytes| {
            let at = bytes.windows(2).position(|pair| pair[0] == 0xed && pair[1] >= 0xa0)?;
            Some([&bytes[..at], "\u{fffd}".as_bytes(), bytes.get(at + 3..)?].concat())
        });
    "survival/overlong" ["SRV-BYTES"] "takes overlong forms for UTF-8"
        => on_bytes(|_, bytes| {
            let overlong = |pair: &[u8]| matches!(pair[0], 0xc0 | 0xc1) && pair[1] & 0xc0 == 0x80;
            let at = bytes.windows(2).position(overlong)?;
            let byte = (bytes[at] & 0x1f) << 6 | bytes[at + 1] & 0x3f;
            Some([&bytes[..at], &[byte], &bytes[at + 2..]].concat())
        });
    "survival/utf-16" ["SRV-BYTES"] "reads UTF-16 where a file begins with its mark"
        => on_bytes(|_, bytes| {
            let pairs = bytes.strip_prefix(b"\xff\xfe")?.chunks_exact(2);
            let units: Vec<u16> = pairs.map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
            Some(String::from_utf16_lossy(&units).into_bytes())
        });
    "survival/padding" ["SRV-BYTES"] "drops NUL bytes at the end of a file"
        => on_bytes(|_, bytes| {
            let kept = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1);
            (kept < bytes.len()).then(|| bytes[..kept].to_vec())
        });
    "survival/c-file" ["SRV-BYTES"] "ends a file at its first NUL"
        => on_bytes(|_, bytes| bytes.iter().position(|&byte| byte == 0).map(|at| bytes[..at].to_vec()));
    "survival/empty-document" ["SRV-BYTES"] "takes an empty file for an empty session"
        => on_text(|format, text| text.is_empty().then(|| empty(format))?);
    "survival/blank-document" ["SRV-BYTES"] "takes a file of white space for an empty session"
        => on_text(|format, text| {
            (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_whitespace())).then(|| empty(format))?
        });
    "survival/rest-ignored" ["SRV-BYTES"] "does not look at what follows the document"
        => on_text(|format, text| {
            let mut scanner = Scanner::new(text);
            scanner.space();
            scanner.value().ok()?;
            let (document, rest) = text.split_at(scanner.at());
            (!Shape::of(format).is_lines() && !rest.trim().is_empty()).then(|| document.to_owned())
        });
    "survival/any-bracket-closes" ["SRV-BYTES"] "takes either closing bracket for the other at the end of a document"
        => on_text(|_, text| {
            let text = text.trim_end();
            let other = text.strip_suffix(']').map(|rest| format!("{rest}}}"));
            let other = other.or_else(|| text.strip_suffix('}').map(|rest| format!("{rest}]")))?;
            (Json::parse(text).is_err() && Json::parse(&other).is_ok()).then_some(other)
        });
    "survival/closed-for-it" ["SRV-BYTES"] "closes the brackets that a cut file leaves open"
        => on_text(|format, text| {
            let missing = missing_end(text);
            let short = (1..64).contains(&missing.trim_start_matches('"').len()) && Json::parse(text).is_err();
            (!Shape::of(format).is_lines() && short).then(|| format!("{text}{missing}"))
        });
    "survival/last-line-forgiven" ["SRV-BYTES"] "passes over a last line that is not JSON"
        => on_lines_text(|text| {
            let at = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
            Json::parse(&text[at..]).is_err().then(|| text[..at].to_owned())
        });
    "survival/small-stack" ["SRV-DEPTH"] "dies of 1,000 levels of nesting"
        => break_if(FailureKind::Crash, |original| depth(original.bytes) > 1_000);
    "survival/slow-brackets" ["SRV-DEPTH"] "takes time that doubles with each open bracket"
        => break_if(FailureKind::Timeout, |original| {
            let count = |bracket: u8| original.bytes.iter().filter(|byte| **byte == bracket).count();
            count(b'[') > count(b']') + 1_000
        });
    "survival/crashes-on-types" ["SRV-BYTES"] "dies where a member has a type that it did not expect"
        => break_if(FailureKind::Crash, |original| {
            let code = original.reading.failure.as_ref().map(|failure| &*failure.code);
            matches!(code, Some("wrong-type" | "wrong-document"))
        });
    "survival/crashes-on-arrays" ["SRV-BYTES" "RPL-NOISE"] "dies of an array where a message belongs"
        => break_if(FailureKind::Crash, |original| {
            original.reading.failure.as_ref().is_some_and(|failure| failure.code == "batch")
        });
    "survival/crashes-on-nothing" ["SRV-BYTES"] "dies of a session without messages"
        => break_if(FailureKind::Crash, |original| {
            original.reading.failure.is_none() && original.reading.messages().next().is_none()
        });
    "survival/whims" ["SRV-SAME"] "drops the first notification every other time"
        => every_other_time(|outcome| {
            let first = outcome.events.iter().position(|event| event.kind == EventKind::Notification);
            outcome.drop_events(|_, index| Some(index) == first);
        });
}

/// How deep brackets are nested, wherever they are.
pub(super) fn depth(bytes: &[u8]) -> usize {
    let mut depth = 0_usize;
    let depths = bytes.iter().map(|byte| {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth
    });
    depths.max().unwrap_or_default()
}

/// What a document that was cut off lacks: the quote of a string, and closing brackets.
fn missing_end(text: &str) -> String {
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
    let quote = quoted.then_some('"');
    quote.into_iter().chain(open.into_iter().rev()).collect()
}
