//! Files that are not recordings, or not yet: what they are by their beginning, and what to do with them.

use crate::excerpt::floor;
use crate::head::{Head, LOOKED_AT};
use transcript::json::{Json, Scanner};

/// What a file is whose beginning is not UTF-8: `text` is what stands before the first byte that is not, `rest` the bytes from it
/// on.
pub(crate) fn not_text(text: &str, rest: &[u8]) -> Option<&'static str> {
    match (text, rest) {
        // Two bytes show nothing; the first character of every capture is ASCII.
        ("", [0xff, 0xfe, _, 0, ..] | [0xfe, 0xff, 0, _, ..]) => Some(UTF16),
        ("\u{1f}", [0x8b, ..]) => Some(GZIP),
        ("(", [0xb5, 0x2f, 0xfd, ..]) => Some(ZSTANDARD),
        ("", [0xfd, b'7', b'z', b'X', b'Z', ..]) => Some(XZ),
        ("x", [0x9c | 0xda, ..]) => Some(ZLIB),
        ("", [0xd4, 0xc3, 0xb2, 0xa1, ..] | [0xa1, 0xb2, 0xc3, 0xd4, ..]) => Some(PACKETS),
        (text, _) if text.starts_with("\n\r\r\n") => Some(PACKETS),
        (text, _) if text.starts_with("BZh") && text[3..].starts_with(|c: char| c.is_ascii_digit()) => {
            Some(BZIP2)
        }
        _ => None,
    }
}

/// What a file is that begins with this text and is not a recording, and what to do with it.
#[must_use]
pub fn foreign(text: &str) -> Option<&'static str> {
    let text = &text[..floor(text, LOOKED_AT.min(text.len()))];
    match text.as_bytes() {
        [b'P', b'K', 3, 4, ..] => Some(ZIP),
        [b'\n', b'\r', b'\r', b'\n', ..] => Some(PACKETS),
        // The first two characters of every capture are ASCII.
        [a, 0, b, 0, ..] if ![*a, *b].contains(&0) => Some(UTF16_LITTLE),
        [0, a, 0, b, ..] if ![*a, *b].contains(&0) => Some(UTF16_BIG),
        _ if is_json_in_a_string(text) => Some(ENCODED_TWICE),
        _ => of_an_object(text).or_else(|| of_a_list(&Head::new(text))).or_else(|| of_a_log(text)),
    }
}

/// What a list is whose items are no messages, by the members of its first.
pub(crate) fn of_a_list(head: &Head) -> Option<&'static str> {
    let mut lists = LISTS.iter().filter(|_| !head.first_has("jsonrpc"));
    lists.find(|(names, _)| names.iter().all(|name| head.first_has(name))).map(|(_, what)| *what)
}

const LISTS: [(&[&str], &str); 8] = [
    (&["inputSchema"], OFFER),
    (&["log"], LIST),
    (&["transport", "entries"], LIST),
    (
        &["request", "response", "scheme"],
        "it is a session of Charles, which is not read; export it from Charles as HAR",
    ),
    (
        &["request", "response"],
        "it is a list of requests with their responses, and a transcript is a list of messages; write it as one with \
         `jq -c '.[] | .request, .response' FILE > NEW`",
    ),
    (
        &["receivedAt", "params"],
        "it is the Inspector's export of log messages, and not of its history, which has the session: export that",
    ),
    (&["role", "content"], CONVERSATION),
    (&["role", "parts"], CONVERSATION),
];

/// What a log is whose program is known by what it says.
fn of_a_log(text: &str) -> Option<&'static str> {
    let head = Head::new(text);
    let mut begun =
        BEGINNINGS.iter().filter(|(begins, ..)| begins.iter().any(|begin| text.starts_with(begin)));
    if let Some((.., what)) = begun.find(|(_, line, _)| text.lines().any(|one| one.starts_with(line))) {
        return Some(what);
    }
    let says = |said: &&[&str]| head.lines().any(|line| said.iter().any(|said| line.contains(said)));
    LOGS.iter().find(|(said, unless, _)| says(said) && !says(unless)).map(|(_, _, what)| *what)
}

/// What programs say in their logs, unless they say something else, too; and what such a log is, which is not a recording.
const LOGS: [(&[&str], &[&str], &str); 15] = [
    (
        &[
            "Handling CreateClient action",
            "Handling ListOfferings action",
            "] listOfferings: ",
            "] Connecting to streamableHttp server",
            "] Client closed for command",
            "] Starting new stdio process with command",
        ],
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
    (&["[DEBUG] MCP server \""], &[], CLAUDE_CODE),
    (
        &["Using automatically selected callback port", "[Local→Remote] ", "[Remote→Local] "],
        &[],
        "it is mcp-remote's log, which holds no whole messages; to record a session, put `mcp-concord record -o NEW --` ahead \
         of `npx mcp-remote`",
    ),
    (
        &["Starting MCP inspector", "MCP Inspector is up and running", "Proxy server listening on "],
        &[],
        "it is what the MCP Inspector prints, which holds no messages; export the history in its page, or start the server \
         under `mcp-concord record -o NEW -- CMD`",
    ),
    (
        &[
            "mcp.server.lowlevel.server",
            "Processing request of type ",
            "Uvicorn running on ",
            "mcp.client.",
            "rmcp::",
            "JSONRPCRequest[",
            "JSONRPCResponse[",
        ],
        &[],
        "it is the log of a program with an SDK, which holds no messages; start the server under \
         `mcp-concord record -o NEW -- CMD` to record a session",
    ),
    (
        &[" HTTP/1.1\" ", " HTTP/2.0\" "],
        &["\"jsonrpc\":"],
        "it is the log of an HTTP server, which holds no messages; put `mcp-concord record -o NEW.har --listen 127.0.0.1:8080 \
         --to URL` before it to record a session",
    ),
    (
        &["\"\"jsonrpc\"\":"],
        &[],
        "its messages are in the cells of a table; take them out with `sed 's/^[^{]*//; s/[^}]*$//; s/\"\"/\"/g' FILE > NEW`",
    ),
    (
        &["[MCPServersRegistry]", ": [MCP]["],
        &[],
        "it is LibreChat's log, which cuts messages and leaves some out; to record a session, put \
         `mcp-concord record -o NEW --` ahead of the server's command in librechat.yaml",
    ),
    (
        &["> POST /", "< HTTP/1.1 ", "< HTTP/2 "],
        &[],
        "it is what `curl -v` prints, which is not read; let curl go through \
         `mcp-concord record -o NEW.har --listen 127.0.0.1:8080 --to URL`",
    ),
    (
        &["<items burpVersion="],
        &[],
        "it is an export of Burp Suite, which is not read; export a HAR from Burp",
    ),
    (
        &["9:websocket;", "8:response;"],
        &[],
        "it is a file of mitmproxy's flows; make a HAR of it with `mitmdump -nr FILE --set hardump=NEW.har`",
    ),
    (&["{ jsonrpc: '2.0'", "{ jsonrpc: \"2.0\""], &[], JAVASCRIPT),
    (&["{'jsonrpc': '2.0'"], &[], PYTHON),
    (
        &["[context_server"],
        &[],
        "it is Zed's log, which holds no messages; to record a session, put `mcp-concord record -o NEW --` ahead of the \
         server's command in Zed's settings",
    ),
];

/// How texts begin, and a line of theirs; and what they are.
const BEGINNINGS: [(&[&str], &str, &str); 6] = [
    (
        &["<!DOCTYPE html", "<!doctype html"],
        "",
        "it is a web page, and may say why it is here instead of a recording",
    ),
    (&["{ jsonrpc: ", "{\n  jsonrpc: "], "", JAVASCRIPT),
    (&["{'jsonrpc': "], "", PYTHON),
    (
        &["event:", "data:", "id:", "retry:", ":"],
        "data:",
        "it is the body of an event stream, which has one side's messages; take them out with \
         `sed -n 's/^data: *//p' FILE > NEW`, or record the session with both",
    ),
    (
        &["HTTP/1.1 ", "HTTP/2 "],
        "",
        "it is an answer as `curl -i` prints it, which has one side's messages; to record both, let curl go through \
         `mcp-concord record -o NEW.har --listen 127.0.0.1:8080 --to URL`",
    ),
    (
        &["Content-Length: "],
        "",
        "its messages have headers before them, as LSP has them, where MCP has a message on each line; take them out with \
         `tr -d '\\r' < FILE | sed 's/Content-Length: [0-9]*//' | grep . > NEW`",
    ),
];

/// A document that tells of a server, or of how one is started.
macro_rules! about_a_server {
    ($what:literal) => {
        concat!(
            "it is ",
            $what,
            ", and holds no messages; start the server under `mcp-concord record -o NEW -- CMD` to record a session"
        )
    };
}

/// Documents by the members that they have.
const DOCUMENTS: [(&[&str], &str); 12] = [
    (
        &["log", "stream", "time"],
        "it is the log that Docker keeps of a container; take what was printed out with `jq -rj .log FILE > NEW`",
    ),
    // Transcripts of Claude Code and of Codex.
    (&["parentUuid", "sessionId"], CONVERSATION),
    (&["timestamp", "type", "payload"], CONVERSATION),
    (&["resourceSpans"], about_a_server!("a trace of OpenTelemetry")),
    (&["info", "item"], about_a_server!("a collection of Postman")),
    (&["mcpServers"], about_a_server!("a client's list of servers")),
    (&["servers", "inputs"], about_a_server!("VS Code's list of servers")),
    (&["name", "version", "packages"], about_a_server!("a server's entry in the MCP registry")),
    (&["manifest_version", "server"], about_a_server!("the manifest of an MCP bundle")),
    (&["name", "version", "dependencies"], about_a_server!("the manifest of an npm package")),
    (&["openapi", "paths"], about_a_server!("a description of an HTTP API")),
    (&["skills", "url"], about_a_server!("an agent's card of A2A")),
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
        _ if has(&["debug", "error"]) && head.has("sessionId") && head.has("cwd") => Some(CLAUDE_CODE),
        _ if head.has("payload") && text.contains("\"jsonrpc\":") => None,
        _ => {
            DOCUMENTS.iter().find(|(names, _)| names.iter().all(|name| head.has(name))).map(|(_, what)| *what)
        }
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
    match inner.peek() {
        Some(b'{' | b'[') => {}
        // Encoded once more.
        Some(b'"') => return !is_cut && is_json_in_a_string(&content),
        _ => return false,
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

const XZ: &str = "the file is compressed with xz; unpack it with `xz -dc FILE > NEW`";

const BZIP2: &str = "the file is compressed with bzip2; unpack it with `bzip2 -dc FILE > NEW`";

const ZLIB: &str = "the file is compressed with zlib; unpack it with `zlib-flate -uncompress < FILE > NEW`";

const ZIP: &str = "it is a ZIP archive; unpack it with `unzip FILE`";

const PACKETS: &str = "it is a capture of packets, which is not read; to record a session, let the client go through \
                       `mcp-concord record -o NEW.har --listen 127.0.0.1:8080 --to URL`";

const ENCODED_TWICE: &str = "it is one JSON string that holds a JSON document, so the document was encoded twice; decode it once \
                             with `jq -r . FILE > NEW`";

const OFFER: &str = "it lists what a server offers, as `fastmcp inspect` writes it, and holds no messages; start the server under \
                     `mcp-concord record -o NEW -- CMD` to record a session";

const CLAUDE_CODE: &str = "it is Claude Code's log of a server, which holds no messages; to record a session, put \
                           `mcp-concord record -o NEW --` ahead of the server's command";

const JAVASCRIPT: &str = "it has messages as JavaScript's console prints objects, which is not JSON; print them with `JSON.stringify`";

const PYTHON: &str =
    "it has messages as Python prints dictionaries, which is not JSON; print them with `json.dumps`";

const CONVERSATION: &str = "it is a conversation with a language model, which has none of the messages between client and server; \
                            to record a session, put `mcp-concord record -o NEW --` ahead of the server's command";

const LIST: &str =
    "it is a list of recordings, and a transcript is one; take the first out with `jq '.[0]' FILE > NEW`";

const LOCK_FILE: &str =
    "it is a lock file of `surface`, and holds no messages; show it with `mcp-concord surface FILE`";

#[cfg(test)]
mod tests;
