//! Where a secret may stand.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use std::io::Write as _;

/// One more place is one more row.
pub(crate) struct Place {
    pub(crate) name: &'static str,
    pub(crate) says: Says,
    /// Why names do not find it there, as it is documented.
    pub(crate) by_name: Option<&'static str>,
    /// Why patterns do not.
    pub(crate) by_pattern: Option<&'static str>,
    /// Whether all of it is withheld, whatever is in it.
    pub(crate) withheld: bool,
}

/// What is said, with a secret in it.
pub(crate) enum Says {
    /// A message, over every transport and in every body that can carry one.
    Message(fn(&str) -> String),
    /// A line of stdio that is not a message.
    Line(fn(&str) -> Vec<u8>),
    /// Words of the server's command.
    Words(fn(&str) -> Vec<String>),
    /// A variable of the environment, and what the server says on its standard error.
    Environment,
    StandardError,
    /// The query of a request, and its headers.
    Query(fn(&str) -> String),
    RequestHeader(fn(&str) -> String),
    ResponseHeader(fn(&str) -> String),
    /// Headers of a body, and the body.
    Body(fn(&str) -> (&'static str, Vec<u8>)),
}

const IDS: &str = "ids stay, since they bind messages to each other";
const NO_NAME: &str = "no name stands before it";
const NAMES_STAY: &str = "names of members stay";

const fn row(name: &'static str, says: Says) -> Place {
    Place { name, says, by_name: None, by_pattern: None, withheld: false }
}

const fn message(name: &'static str, message: fn(&str) -> String) -> Place {
    row(name, Says::Message(message))
}

const fn body(name: &'static str, body: fn(&str) -> (&'static str, Vec<u8>)) -> Place {
    row(name, Says::Body(body))
}

const fn withheld(place: Place) -> Place {
    Place { withheld: true, ..place }
}

const fn stays(place: Place, by_name: Option<&'static str>, by_pattern: Option<&'static str>) -> Place {
    Place { by_name, by_pattern, ..place }
}

const JSON: &str = "Content-Type: application/json";
const STREAM: &str = "Content-Type: text/event-stream";
const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

fn call(arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}"#
    )
}

/// A text of JSON: what is escaped in `text` is so once more.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn words(words: &[&str], secret: &str) -> Vec<String> {
    words.iter().map(|word| word.replace('@', secret)).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(text.as_bytes()).unwrap();
    gzip.finish().unwrap()
}

pub(crate) const PLACES: &[Place] = &[
    // JSON-RPC.
    message("argument", |it| call(&format!(r#"{{"token":"{it}"}}"#))),
    message("below the name", |it| call(&format!(r#"{{"token":{{"a":["{it}",{{"b":"{it}"}}]}}}}"#))),
    message("metadata", |it| {
        format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"_meta":{{"token":"{it}"}}}}}}"#)
    }),
    message("data of an error", |it| {
        format!(r#"{{"jsonrpc":"2.0","id":ID,"error":{{"code":1,"message":"m","data":{{"token":"{it}"}}}}}}"#)
    }),
    message("message of an error", |it| {
        format!(r#"{{"jsonrpc":"2.0","id":ID,"error":{{"code":1,"message":"m: token={it}"}}}}"#)
    }),
    message("JSON in a text", |it| {
        call(&format!(r#"{{"a":{}}}"#, quoted(&format!(r#"{{"token":"{it}"}}"#))))
    }),
    message("JSON in JSON in a text", |it| {
        let inner = quoted(&format!(r#"[{{"token":"{it}"}}]"#));
        call(&format!(r#"{{"a":{}}}"#, quoted(&format!(r#"{{"b":{inner}}}"#))))
    }),
    message("half of JSON in a text", |it| {
        call(&format!(r#"{{"a":{}}}"#, quoted(&format!(r#"{{"b":[1,{{"token": "{it}"#))))
    }),
    message("URL in a text", |it| call(&format!(r#"{{"a":"see http://h/p?a=1&token={it}#f"}}"#))),
    withheld(message("password of a URL in a text", |it| call(&format!(r#"{{"a":"http://me:{it}@h/p"}}"#)))),
    message("URL in a query in a text", |it| {
        let it = it.replace('&', "%26");
        call(&format!(r#"{{"a":"/p?next=http%3A%2F%2Fh%2F%3Ftoken%3D{it}&b=1"}}"#))
    }),
    message("header in a text", |it| {
        call(&format!(r#"{{"a":"Host: h\r\nAuthorization: Bearer {it}\r\n"}}"#))
    }),
    message("setting in a text", |it| call(&format!(r#"{{"a":"export TOKEN={it}\nx"}}"#))),
    message("payload of a JWT", |it| {
        let payload = URL_SAFE_NO_PAD.encode(format!(r#"{{"sub":"me","token":"{it}"}}"#));
        call(&format!(r#"{{"a":"eyJhbGciOiJIUzI1NiJ9.{payload}.c2lnbmF0dXJl"}}"#))
    }),
    stays(message("text", |it| call(&format!(r#"{{"a":"use {it} here"}}"#))), Some(NO_NAME), None),
    stays(
        message("member's name", |it| call(&format!(r#"{{"{it}":1}}"#))),
        Some(NAMES_STAY),
        Some(NAMES_STAY),
    ),
    stays(message("id", |it| call("{}").replace("ID", &format!("\"{it}\""))), Some(IDS), Some(IDS)),
    stays(
        message("progress token", |it| {
            call("{}").replace("\"name\"", &format!(r#""_meta":{{"progressToken":"{it}"}},"name""#))
        }),
        Some(IDS),
        Some(IDS),
    ),
    stays(
        message("method", |it| format!(r#"{{"jsonrpc":"2.0","method":"{it}"}}"#)),
        Some("methods stay"),
        Some("methods stay"),
    ),
    stays(
        message("schema", |it| {
            call(&format!(r#"{{"inputSchema":{{"properties":{{"token":{{"default":"{it}"}}}}}}}}"#))
        }),
        Some("schemas stay"),
        Some("schemas stay"),
    ),
    // stdio.
    withheld(row("line of text", Says::Line(|it| format!("the token is {it}").into_bytes()))),
    withheld(row(
        "half a message",
        Says::Line(|it| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"token":"{it}"#).into_bytes()),
    )),
    withheld(row("line that is not UTF-8", Says::Line(|it| [b"\xff", it.as_bytes()].concat()))),
    withheld(row("other JSON", Says::Line(|it| format!(r#"{{"level":"info","note":"{it}"}}"#).into_bytes()))),
    withheld(row("environment", Says::Environment)),
    stays(
        row("standard error", Says::StandardError),
        Some("the server's standard error passes as it is"),
        Some("the server's standard error passes as it is"),
    ),
    // The command line.
    row("option", Says::Words(|it| words(&["--token", "@"], it))),
    row("option with a dash behind it", Says::Words(|it| words(&["--token", "-@"], it))),
    row("option in one word", Says::Words(|it| words(&["--token=@"], it))),
    row("variable", Says::Words(|it| words(&["-e", "TOKEN=@"], it))),
    row("header in a word", Says::Words(|it| words(&["--header", "Authorization: Bearer @"], it))),
    row("header behind an equals sign", Says::Words(|it| words(&["--header=Authorization: Bearer @"], it))),
    row("header behind an option of one letter", Says::Words(|it| words(&["-HAuthorization: Bearer @"], it))),
    row("URL in a word", Says::Words(|it| words(&["https://h/mcp?a=1&token=@"], it))),
    withheld(row("password of a URL in a word", Says::Words(|it| vec![format!("postgres://me:{it}@h/db")]))),
    row("JSON in a word", Says::Words(|it| words(&[r#"{"env":{"TOKEN":"@"}}"#], it))),
    row("JSON behind an equals sign", Says::Words(|it| words(&[r#"--json={"token":"@"}"#], it))),
    row("script", Says::Words(|it| words(&["-c", "exec server --token @"], it))),
    row("script that sets a variable", Says::Words(|it| words(&["-c", "A=1 TOKEN=@ exec server"], it))),
    stays(row("word", Says::Words(|it| words(&["@"], it))), Some(NO_NAME), None),
    // HTTP, its heads.
    row("query", Says::Query(|it| format!("a=1&token={it}&b=2"))),
    row("query with semicolons", Says::Query(|it| format!("a=1;token={it};b=2"))),
    row("query with brackets", Says::Query(|it| format!("user%5Btoken%5D={it}"))),
    row("JSON in a query", Says::Query(|it| format!("a=%7B%22token%22%3A%22{it}%22%7D"))),
    stays(row("another member of a query", Says::Query(|it| format!("a={it}"))), Some(NO_NAME), None),
    row("Authorization", Says::RequestHeader(|it| format!("Authorization: Bearer {it}"))),
    row("Cookie", Says::RequestHeader(|it| format!("Cookie: a=1; token={it}; b=2"))),
    row("Referer", Says::RequestHeader(|it| format!("Referer: http://h/?token={it}"))),
    row("JSON in a header", Says::RequestHeader(|it| format!(r#"X-Context: {{"token":"{it}"}}"#))),
    stays(row("another header", Says::RequestHeader(|it| format!("X-Other: {it}"))), Some(NO_NAME), None),
    row("Set-Cookie", Says::ResponseHeader(|it| format!("Set-Cookie: token={it}; Path=/"))),
    row("Location", Says::ResponseHeader(|it| format!("Location: /cb?token={it}"))),
    row("fragment of a Location", Says::ResponseHeader(|it| format!("Location: /cb#a=1&token={it}"))),
    row("Refresh", Says::ResponseHeader(|it| format!("Refresh: 5; url=/cb?a=1;token={it}"))),
    row("Link", Says::ResponseHeader(|it| format!("Link: </cb?token={it}>; rel=next"))),
    row(
        "WWW-Authenticate",
        Says::ResponseHeader(|it| {
            format!("WWW-Authenticate: Bearer resource_metadata=\"http://h/?token={it}\", error=\"e\"")
        }),
    ),
    row(
        "parameter of a media type",
        Says::ResponseHeader(|it| format!("Content-Type: application/json; token={it}")),
    ),
    stays(row("session id", Says::ResponseHeader(|it| format!("Mcp-Session-Id: {it}"))), Some(NO_NAME), None),
    // HTTP, its bodies.
    body("form", |it| (FORM, format!("grant_type=refresh&token={it}&a=1").into())),
    body("JSON labelled as a form", |it| (FORM, format!(r#"{{"token":"{it}"}}"#).into())),
    withheld(body("JSON labelled as a stream", |it| {
        (STREAM, format!("{{\"token\":\n\"{it}\"}}\n\n").into())
    })),
    body("JSON labelled as nothing", |it| ("X-No: label", format!(r#"{{"token":"{it}"}}"#).into())),
    withheld(body("text labelled as a form", |it| (FORM, format!("the token is {it}").into()))),
    withheld(body("text labelled as JSON", |it| (JSON, format!("the token is {it}").into()))),
    withheld(body("half of JSON", |it| (JSON, format!(r#"{{"token":"{it}"#).into()))),
    withheld(body("web page", |it| ("Content-Type: text/html", format!("<p>{it}").into()))),
    withheld(body("parts of a form", |it| {
        ("Content-Type: multipart/form-data; boundary=x", format!("--x\r\n\r\n{it}\r\n--x--\r\n").into())
    })),
    body("gzip", |it| {
        ("Content-Type: application/json\r\nContent-Encoding: gzip", gzip(&format!(r#"{{"token":"{it}"}}"#)))
    }),
    body("gzip of a stream", |it| {
        (
            "Content-Type: text/event-stream\r\nContent-Encoding: gzip",
            gzip(&format!("data: {{\"token\":\"{it}\"}}\n\n")),
        )
    }),
    withheld(body("another coding", |it| {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::none());
        zlib.write_all(format!(r#"{{"token":"{it}"}}"#).as_bytes()).unwrap();
        ("Content-Type: application/json\r\nContent-Encoding: deflate", zlib.finish().unwrap())
    })),
    // Event streams.
    body("data in lines", |it| (STREAM, format!("data: {{\"token\":\ndata: \"{it}\"}}\n\n").into())),
    withheld(body("data that is not JSON", |it| (STREAM, format!("data: the token is {it}\n\n").into()))),
    withheld(body("event cut off", |it| (STREAM, format!("data: {{\"token\":\"{it}").into()))),
    withheld(body("comment", |it| (STREAM, format!(": {it}\n\n").into()))),
    withheld(body("unknown field", |it| (STREAM, format!("note: {it}\n\n").into()))),
    withheld(body("time to wait", |it| (STREAM, format!("retry: {it}\n\n").into()))),
    body("endpoint", |it| (STREAM, format!("event: endpoint\ndata: /m?token={it}\n\n").into())),
    stays(
        body("name of an event", |it| (STREAM, format!("event: {it}\ndata: {{}}\n\n").into())),
        Some(NO_NAME),
        None,
    ),
    stays(
        body("id of an event", |it| (STREAM, format!("id: {it}\ndata: {{}}\n\n").into())),
        Some(IDS),
        Some(IDS),
    ),
    stays(
        body("two events", |it| {
            let (one, two) = it.split_at(it.len() / 2);
            let event = |half| {
                format!("data: {{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{{\"a\":\"{half}\"}}}}\n\n")
            };
            (STREAM, (event(one) + &event(two)).into())
        }),
        Some(NO_NAME),
        Some("each event is looked at by itself"),
    ),
];
