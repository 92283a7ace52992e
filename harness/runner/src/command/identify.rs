//! `identify`: which transport and revision a capture shows, and how it was connected.
//!
//! Knows: how findings are written for people and for programs. Refuses to know: what is a sign of what.

use super::{Around, Failure, format_of, named_format, open};
use crate::exit;
use crate::show::plain;
use formats::identify::{Evidence, Identification, Source, Transport, Verdict, identify};
use formats::{Format, Input};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;
use transcript::json::write_string;

/// Says which transport and revision of MCP a capture shows, with the evidence, and counts its connections.
///
/// Only a GET that is answered with an event stream counts as an SSE connection. What the capture's format cannot
/// tell is said to be unknown.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord identify session.har
  mcp-concord identify --output json trace.jsonl | jq .revision
  mcp-concord identify --format har - < capture

In JSON, null stands for unknown, and the transport is \"mixed\" where the evidence contradicts itself.
Exit code 0: read; 1: rejected; 2: it could not be opened.")]
pub struct Args {
    /// The transcript; `-` is the standard input.
    file: PathBuf,
    /// Its capture format, where the content should not decide.
    #[arg(long, value_name = "FORMAT", value_parser = named_format)]
    format: Option<&'static Format>,
    /// For people, or for programs.
    #[arg(long, value_enum, default_value = "text", value_name = "HOW")]
    output: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum How {
    Text,
    Json,
}

/// Runs the command. Memory: what the format's reader holds, and a few counts.
///
/// # Errors
/// Where the transcript cannot be opened or is rejected.
pub fn run(args: &Args, around: Around) -> Result<u8, Failure> {
    let mut source = open(&args.file)?;
    let name = source.name.clone();
    let rejected = |error| Failure::of_reading(&name, error);
    let mut input = Input::new(&mut *source.reader).map_err(rejected)?;
    let format = format_of(args.format, &mut input, &name)?;
    let found = identify(format, &mut input).map_err(rejected)?;

    let mut out = io::stdout().lock();
    match args.output {
        How::Text => out.write_all(text(format, &found).as_bytes())?,
        How::Json => out.write_all(&json(format, &found))?,
    }
    out.flush()?;
    if found.missing > 0 {
        let (bodies, were) = if found.missing == 1 { ("body", "was") } else { ("bodies", "were") };
        around.voice.note(&format!(
            "{name}: {} {bodies} {were} dropped by the exporter, and counted as far as their headers tell \
             (HAR-MISSING)",
            found.missing
        ));
    }
    Ok(exit::WELL)
}

fn text(format: &Format, found: &Identification) -> String {
    let unknown = format!("unknown ({} does not carry HTTP exchanges)", format.name);
    let count = |count: Option<u64>| count.map_or_else(|| unknown.clone(), |count| count.to_string());
    let connections = match (found.sse_connections_total, found.sse_connections_active) {
        (Some(total), Some(active)) => format!("{total}, {active} of them open at the end"),
        _ => unknown.clone(),
    };
    let events = found.sse_events.map_or_else(
        || format!("unknown ({} does not carry SSE events)", format.name),
        |events| events.to_string(),
    );
    let responses = found.responses.map_or_else(
        || unknown.clone(),
        |kinds| {
            format!(
                "{} JSON, {} event stream, {} accepted or without a body, {} other, {} never came",
                kinds.json, kinds.event_stream, kinds.accepted, kinds.other, kinds.none
            )
        },
    );
    let mut out = String::new();
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(out, "{name:<17}{value}");
    };
    row("format", format.name);
    row("transport", &transport(found));
    row("revision", &revision(found));
    row("messages", &found.messages.to_string());
    row("requests", &count(found.requests_total));
    row("SSE connections", &connections);
    row("SSE events", &events);
    row("responses", &responses);
    if found.evidence.is_empty() {
        row("evidence", "none");
        return out;
    }
    out.push_str("\nevidence\n");
    let rows: Vec<[String; 3]> = found.evidence.iter().map(columns).collect();
    let width = |column: usize| {
        let widths = rows.iter().map(|row: &[String; 3]| row[column].chars().count());
        widths.max().unwrap_or_default()
    };
    let (shows, what) = (width(0), width(1));
    for [first, second, third] in &rows {
        let _ = writeln!(out, "  {first:<shows$}  {second:<what$}  {third}");
    }
    out
}

fn transport(found: &Identification) -> String {
    match found.transport {
        Verdict::One(Transport::StreamableHttp) => "Streamable HTTP (streamable-http)".to_owned(),
        Verdict::One(Transport::HttpSse) => "HTTP+SSE, the older one (http-sse)".to_owned(),
        Verdict::Mixed => "mixed: there is evidence of both Streamable HTTP and HTTP+SSE".to_owned(),
        Verdict::Unknown => {
            let named = |piece: &&Evidence| matches!(&*piece.shows, "stdio" | "http");
            match found.evidence.iter().find(named) {
                Some(piece) => format!("unknown, perhaps {}: the evidence is weak", piece.shows),
                None => "unknown".to_owned(),
            }
        }
    }
}

fn revision(found: &Identification) -> String {
    let Some((version, source)) = &found.revision else { return "unknown".to_owned() };
    let from = match source {
        Source::RequestMeta => "named by each request, and granted",
        Source::InitializeResult => "from the result of initialize",
        Source::Header => "from the header MCP-Protocol-Version",
        Source::Hint => "by a hint alone",
    };
    format!("{} ({from})", plain(version))
}

fn columns(piece: &Evidence) -> [String; 3] {
    let mut place = piece.place.line.map_or_else(String::new, |line| format!("line {line}"));
    if !piece.place.pointer.is_empty() {
        let gap = if place.is_empty() { "" } else { "  " };
        let _ = write!(place, "{gap}{}", piece.place.pointer);
    }
    if piece.more > 0 {
        let _ = write!(place, "  and {} more", piece.more);
    }
    let what = if piece.weak { format!("{} (weak)", piece.what) } else { piece.what.clone() };
    [plain(&piece.shows), plain(&what), plain(&place)]
}

fn json(format: &Format, found: &Identification) -> Vec<u8> {
    let transport = match found.transport {
        Verdict::One(transport) => Some(transport.name()),
        Verdict::Mixed => Some("mixed"),
        Verdict::Unknown => None,
    };
    let (version, source) = match &found.revision {
        Some((version, source)) => (Some(&**version), Some(source.name())),
        None => (None, None),
    };
    let mut out = Vec::new();
    let mut member = |name: &str, value: &[u8]| {
        out.extend_from_slice(if out.is_empty() { b"{\n  " } else { b",\n  " });
        write_string(name.as_bytes(), &mut out);
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
    };
    member("format", &string(Some(format.name)));
    member("transport", &string(transport));
    member("revision", &string(version));
    member("revision_from", &string(source));
    let pieces: Vec<Vec<u8>> = found.evidence.iter().map(piece).collect();
    let pieces = match &*pieces {
        [] => b"[]".to_vec(),
        pieces => [b"[\n    ".as_slice(), &pieces.join(&b",\n    "[..]), b"\n  ]"].concat(),
    };
    member("evidence", &pieces);
    member("requests_total", &number(found.requests_total));
    member("sse_connections_total", &number(found.sse_connections_total));
    member("sse_connections_active", &number(found.sse_connections_active));
    member("sse_events", &number(found.sse_events));
    let responses = found.responses.map_or_else(
        || "null".to_owned(),
        |kinds| {
            format!(
                "{{\"json\": {}, \"event_stream\": {}, \"accepted\": {}, \"other\": {}, \"none\": {}}}",
                kinds.json, kinds.event_stream, kinds.accepted, kinds.other, kinds.none
            )
        },
    );
    member("responses", responses.as_bytes());
    member("messages", &number(Some(found.messages)));
    out.extend_from_slice(b"\n}\n");
    out
}

fn piece(piece: &Evidence) -> Vec<u8> {
    let members = [
        ("shows", string(Some(&piece.shows))),
        ("what", string(Some(&piece.what))),
        ("line", number(piece.place.line)),
        ("pointer", string(Some(&piece.place.pointer))),
        ("weak", piece.weak.to_string().into_bytes()),
        ("more", number(Some(piece.more))),
    ];
    let members: Vec<Vec<u8>> =
        members.iter().map(|(name, value)| [format!("\"{name}\": ").as_bytes(), value].concat()).collect();
    [b"{".as_slice(), &members.join(&b", "[..]), b"}"].concat()
}

fn string(text: Option<&str>) -> Vec<u8> {
    let mut out = Vec::new();
    match text {
        Some(text) => write_string(text.as_bytes(), &mut out),
        None => out.extend_from_slice(b"null"),
    }
    out
}

fn number(number: Option<u64>) -> Vec<u8> {
    number.map_or_else(|| b"null".to_vec(), |number| number.to_string().into_bytes())
}
