//! Files that are no recording, or not yet: what they are, told from their beginning, and what to do with them.

use crate::excerpt::floor;
use crate::head::{Head, LOOKED_AT};
use transcript::json::{Json, Scanner};

/// What a file is whose beginning is not UTF-8: `text` is what stands before the first byte that is not, `rest` the bytes from it
/// on.
pub(crate) fn not_text(text: &str, rest: &[u8]) -> Option<&'static str> {
    match (text, rest) {
        // Two bytes alone show nothing; the first character of every capture is ASCII.
        ("", [0xff, 0xfe, _, 0, ..] | [0xfe, 0xff, 0, _, ..]) => Some(UTF16),
        ("\u{1f}", [0x8b, ..]) => Some(GZIP),
        ("(", [0xb5, 0x2f, 0xfd, ..]) => Some(ZSTANDARD),
        _ => None,
    }
}

/// What a file is that begins with this text and is no recording, and what to do with it.
#[must_use]
pub fn foreign(text: &str) -> Option<&'static str> {
    let text = &text[..floor(text, LOOKED_AT.min(text.len()))];
    match text.as_bytes() {
        [b'P', b'K', 3, 4, ..] => Some(ZIP),
        // The first two characters of every capture are ASCII.
        [a, 0, b, 0, ..] if ![*a, *b].contains(&0) => Some(UTF16_LITTLE),
        [0, a, 0, b, ..] if ![*a, *b].contains(&0) => Some(UTF16_BIG),
        _ if is_json_in_a_string(text) => Some(ENCODED_TWICE),
        _ => of_an_object(text).or_else(|| of_a_log(text)),
    }
}

/// What a log is whose program is known by what it says.
fn of_a_log(text: &str) -> Option<&'static str> {
    let head = Head::new(text);
    let says = |said: &&[&str]| head.lines().any(|line| said.iter().any(|said| line.contains(said)));
    LOGS.iter().find(|(said, unless, _)| says(said) && !says(unless)).map(|(_, _, what)| *what)
}

/// What programs say in their logs, unless they say something else, too; and what such a log is, which is no recording.
const LOGS: [(&[&str], &[&str], &str); 2] = [
    (
        &["Handling CreateClient action", "Handling ListOfferings action", "] listOfferings: "],
        &[],
        "it is Cursor's log of a server, which holds no messages at any level; to record a session, put \
         `mcp-concord record -o NEW --` ahead of the server's command in Cursor's mcp.json",
    ),
    (
        &["[supergateway] "],
        &["Child → ", " → Child"],
        "it is supergateway's log, and none of its first lines is a message; start supergateway with `--logLevel debug` and \
         `--outputTransport streamableHttp`, or the server under `mcp-concord record -o NEW -- CMD`",
    ),
];

fn of_an_object(text: &str) -> Option<&'static str> {
    let head = Head::new(text);
    let has = |names: &[&str]| names.iter().any(|name| head.has(name));
    match head.has("tools") {
        _ if head.has("mcpSurface") => Some(LOCK_FILE),
        // A request to a language model has tools, too.
        true if has(&["messages", "events", "entries", "exchanges", "interactions", "model"]) => None,
        true if has(&["prompts", "resources", "serverInfo"]) || text.contains("\"inputSchema\"") => {
            Some(OFFER)
        }
        _ => None,
    }
}

/// Whether this begins with one JSON string whose text is a JSON object or list, or lines of them; as far as it is looked at.
fn is_json_in_a_string(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    scanner.space();
    let start = scanner.at();
    if scanner.peek() != Some(b'"') {
        return false;
    }
    let (string, is_cut) = match scanner.value() {
        Ok(()) => (text[start..scanner.at()].to_owned(), false),
        Err(fault) if fault.ended && text.len() + 4 > LOOKED_AT => (closed(&text[start..]), true),
        Err(_) => return false,
    };
    let string = Json::parse(&string).ok().and_then(Json::as_text);
    let Some(content) = string.and_then(|string| string.to_str()) else { return false };
    let mut inner = Scanner::new(&content);
    inner.space();
    if !matches!(inner.peek(), Some(b'{' | b'[')) {
        return false;
    }
    match inner.value() {
        Ok(()) => {
            let rest = content[inner.at()..].trim_start_matches([' ', '\t', '\r']);
            rest.is_empty() || rest.starts_with('\n')
        }
        Err(fault) => fault.ended && is_cut,
    }
}

/// The beginning of a JSON string as a whole one: without an escape, or a pair of them, that is cut.
fn closed(begin: &str) -> String {
    let ends = (0..12).map(|cut| floor(begin, begin.len().saturating_sub(cut)));
    let strings = ends.map(|end| format!("{}\"", &begin[..end]));
    let is_text = |string: &String| {
        Json::parse(string).ok().and_then(Json::as_text).is_some_and(|string| string.to_str().is_some())
    };
    strings.into_iter().find(is_text).unwrap_or_default()
}

const UTF16: &str = "the file is UTF-16, as `>` in Windows PowerShell writes it, and not UTF-8; make it UTF-8 with \
                     `iconv -f UTF-16 -t UTF-8 FILE > NEW`, or write it with `| Out-File -Encoding utf8 FILE`";

const UTF16_LITTLE: &str = "it is UTF-16 without a byte order mark, and not UTF-8; make it UTF-8 with \
                            `iconv -f UTF-16LE -t UTF-8 FILE > NEW`";

const UTF16_BIG: &str = "it is UTF-16 without a byte order mark, and not UTF-8; make it UTF-8 with \
                         `iconv -f UTF-16BE -t UTF-8 FILE > NEW`";

const GZIP: &str = "the file is compressed with gzip; unpack it with `gunzip -c FILE > NEW`";

const ZSTANDARD: &str = "the file is compressed with Zstandard; unpack it with `zstd -dc FILE > NEW`";

const ZIP: &str = "it is a ZIP archive; unpack it with `unzip FILE`";

const ENCODED_TWICE: &str = "it is one JSON string that holds a JSON document, so the document was encoded twice; decode it once \
                             with `jq -r . FILE > NEW`";

const OFFER: &str = "it lists what a server offers, as `fastmcp inspect` writes it, and no messages; start the server under \
                     `mcp-concord record -o NEW -- CMD` to record a session";

const LOCK_FILE: &str =
    "it is a lock file of `surface`, and holds no messages; show it with `mcp-concord surface FILE`";

#[cfg(test)]
mod tests {
    use super::foreign;
    use crate::{Input, ReadError, detect};

    /// Why this file is not opened, or what it is where it is opened and no recording; however the bytes come.
    fn said(bytes: &[u8]) -> String {
        let found = [1, 2, 3, 100, 1 << 20].map(|size| {
            let mut parts: std::collections::VecDeque<u8> =
                bytes.chunks(size).flat_map(<[u8]>::to_vec).collect();
            let mut input = match Input::new(&mut parts) {
                Ok(input) => input,
                Err(ReadError::Rejected(rejection)) => return rejection.message,
                Err(error) => panic!("{error}"),
            };
            assert!(detect(&mut input).unwrap().is_none());
            foreign(input.text()).unwrap_or_default().to_owned()
        });
        assert!(found.iter().all(|said| *said == found[0]), "{found:?}");
        found[0].clone()
    }

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn utf_16_is_told_with_a_way_to_utf_8() {
        assert!(said(b"\xff\xfe").starts_with("byte 0xff is not UTF-8"));
        let message = "{\"jsonrpc\":\"2.0\",\"method\":\"\u{e9}\u{4e16}\"}\r\n";
        for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            let said = said(&utf16(&format!("\u{feff}{message}"), bytes));
            assert!(said.contains("is UTF-16, as `>` in Windows PowerShell writes it"), "{said}");
            assert!(said.contains("`iconv -f UTF-16 -t UTF-8 FILE > NEW`"), "{said}");
        }
        assert!(said(&utf16(message, u16::to_le_bytes)).contains("iconv -f UTF-16LE -t UTF-8"));
        assert!(said(&utf16(message, u16::to_be_bytes)).contains("iconv -f UTF-16BE -t UTF-8"));
        assert!(said(b"\xff{}").starts_with("byte 0xff is not UTF-8"));
    }

    #[test]
    fn compressed_files_are_told_with_a_way_to_unpack_them() {
        assert!(
            said(b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xab").contains("gzip; unpack it with `gunzip -c FILE > NEW`")
        );
        assert!(said(b"\x28\xb5\x2f\xfd\x24\x01").contains("`zstd -dc FILE > NEW`"));
        assert!(said(b"PK\x03\x04\x14\0\0\0\x08\0\xff\xfe").contains("a ZIP archive"));
        assert!(said(b"(\xb5").starts_with("byte 0xb5 is not UTF-8"));
    }

    #[test]
    fn a_document_that_was_encoded_twice_is_told_with_a_way_to_decode_it() {
        let told = |text: &str| {
            said(text.as_bytes()).contains("encoded twice; decode it once with `jq -r . FILE > NEW`")
        };
        assert!(told(r#" "[\n {\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n]" "#));
        assert!(told(r#""{\"jsonrpc\":\"2.0\"}\n{\"jsonrpc\":\"2.0\"}\n""#));
        for other in
            [r#""a""#, r#""[a]""#, r#""[1] a""#, r#""\"a\"""#, r#""[1"#, r#""[1""#, r#""1""#, "\"\n[]\""]
        {
            assert!(!told(other), "{other}");
        }
        // One that is longer than what is looked at, cut anywhere.
        for unit in [r#"\"\u00e9\ud83d\ude00\\n\","#, "1,"] {
            for pad in 0..40 {
                let text = format!("\"{}[{}1]\"", " ".repeat(pad), unit.repeat((80 << 10) / unit.len()));
                assert!(told(&text), "{unit} behind {pad}");
            }
        }
        assert!(!told(&format!("\"[{}\"", "a".repeat(80 << 10))));
    }

    #[test]
    fn logs_without_messages_are_named_by_their_programs() {
        for (log, program) in [
            ("2025-11-05 09:59:48.527 [info] Handling CreateClient action", "Cursor's log"),
            (
                "2025-04-11 11:52:29.8 [info] a: up\n2025-04-11 11:52:29.819 [info] listOfferings: Found 17 tools",
                "Cursor's log",
            ),
            ("[supergateway] Starting...\n[supergateway] Listening on port 1", "supergateway's log"),
        ] {
            let said = said(log.as_bytes());
            assert!(said.contains(program) && said.contains("`mcp-concord record -o NEW --"), "{said}");
        }
    }

    #[test]
    fn what_lists_an_offer_is_told_with_a_way_to_record() {
        let told = |text: &str| {
            said(text.as_bytes()).contains("what a server offers, as `fastmcp inspect` writes it")
        };
        for offer in [
            r#"{"serverInfo":{"name":"a"},"tools":[],"prompts":[],"resources":[],"templates":[]}"#,
            r#"{"server":{"name":"a"},"environment":{},"tools":[],"prompts":[]}"#,
            r#"{"tools":[{"name":"a","inputSchema":{}}]}"#,
        ] {
            assert!(told(offer), "{offer}");
            assert!(said(offer.as_bytes()).contains("`mcp-concord record -o NEW -- CMD` to record"));
        }
        let long =
            format!(r#"{{"tools":[{}{{}}],"prompts":[]}}"#, r#"{"name":"a","inputSchema":{}},"#.repeat(4000));
        assert!(told(&long));
        for other in [
            r#"{"tools":[]}"#,
            r#"{"resources":[]}"#,
            r#"{"tools":[],"resources":[],"messages":[]}"#,
            r#"{"model":"m","tools":[{"inputSchema":{}}]}"#,
        ] {
            assert!(!told(other), "{other}");
        }
        assert!(said(br#"{"mcpSurface":1,"tools":[]}"#).starts_with("it is a lock file of `surface`"));
    }
}
