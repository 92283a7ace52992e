//! `identify`: which transport and revision a capture shows, and how it was connected.

use super::context::{CommandContext, Failure};
use super::input::{named_format, reading};
use crate::exit;
use crate::terminal::data_out;
use crate::terminal::plain;
use formats::Format;
use formats::identify::{
    Evidence, Identification, RevisionSource, StreamDurations, Transport, TransportFinding, identify,
};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

/// Detects the transport and revision of MCP in a capture, with the evidence, and counts its connections.
///
/// Only a GET that is answered with an event stream counts as an SSE connection. What the capture's format does
/// not carry is reported as unknown.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord identify session.har
  mcp-concord identify --output json trace.jsonl | jq .revision
  mcp-concord identify --format har - < capture

In JSON, null means unknown, and the transport is \"mixed\" where the evidence contradicts itself.
Exit code 0: read; 1: rejected; 2: it cannot be opened.")]
pub(crate) struct Args {
    /// The transcript; `-` is the standard input.
    file: PathBuf,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
    /// The output format.
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
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    let (name, format, found) = reading(&args.file, args.format, |_, format, input| identify(format, input))?;

    let mut out = data_out();
    match args.output {
        How::Text => out.write_all(text(format, &found).as_bytes())?,
        How::Json => out.write_all(found.to_json(format).as_bytes())?,
    }
    out.flush()?;
    if let Some(note) = found.note() {
        context.terminal.note(&format!("{name}: {note}"));
    }
    Ok(exit::WELL)
}

fn text(format: &Format, found: &Identification) -> String {
    let made_up = found.evidence.iter().any(|piece| piece.sign == "made-up");
    let unknown = match made_up {
        true => "unknown (made up when the file was converted)".to_owned(),
        false => format!("unknown ({} does not carry HTTP exchanges)", format.name),
    };
    let count = |count: Option<u64>| count.map_or_else(|| unknown.clone(), |count| count.to_string());
    let connections = match (found.sse_connections_total, found.sse_connections_active) {
        (Some(0), _) => "0".to_owned(),
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
                "{} JSON, {} event stream, {} accepted (202), {} other, {} missing",
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
    row("open at the end", &count(found.connections_active));
    row("SSE connections", &connections);
    row("SSE events", &events);
    if let Some(durations) = found.stream_durations
        && let Some((shortest, longest)) = durations.extremes
    {
        let StreamDurations { streams, total, .. } = durations;
        let lasted = match streams {
            1 => format!("1 ended, after {total} ms"),
            _ => format!("{streams} ended, after {shortest} to {longest} ms, {total} ms in all"),
        };
        row("streams", &lasted);
    }
    row("responses", &responses);
    for url in found.both_modes.iter().flatten() {
        row("both modes", &format!("{} answers as JSON and on an event stream", plain(url)));
    }
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
        TransportFinding::One(Transport::StreamableHttp) => "Streamable HTTP (streamable-http)".to_owned(),
        TransportFinding::One(Transport::HttpSse) => "HTTP+SSE, the older one (http-sse)".to_owned(),
        TransportFinding::Stdio => "stdio, the pipes of a program".to_owned(),
        TransportFinding::Mixed => "mixed: there is evidence of both Streamable HTTP and HTTP+SSE".to_owned(),
        TransportFinding::Unknown => {
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
        RevisionSource::RequestMeta => "named by each request, and granted",
        RevisionSource::InitializeResult => "from the result of initialize",
        RevisionSource::Header => "from the header MCP-Protocol-Version",
        RevisionSource::Hint => "only by a hint",
    };
    format!("{} ({from})", plain(version))
}

fn columns(piece: &Evidence) -> [String; 3] {
    let mut place = piece.location.line.map_or_else(String::new, |line| format!("line {line}"));
    if !piece.location.pointer.is_empty() {
        let gap = if place.is_empty() { "" } else { "  " };
        let _ = write!(place, "{gap}{}", piece.location.pointer);
    }
    if piece.more > 0 {
        let _ = write!(place, "  and {} more", piece.more);
    }
    let what = if piece.weak { format!("{} (weak)", piece.what) } else { piece.what.clone() };
    [plain(&piece.shows), plain(&what), plain(&place)]
}
