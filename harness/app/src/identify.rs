//! Which transport and revision a recording shows: `identify`.

use crate::answer::{Command, Outcome, Output, Remark, options};
use crate::error::{Cause, Error};
use crate::recording::{Recording, format};
use formats::Format;
use formats::identify::{
    Evidence, Identification, RevisionSource, StreamDurations, Transport, TransportFinding, identify,
};
use reports::plain::plain;
use std::fmt::Write as _;

options! {
    /// How a recording is identified.
    IdentifyOptions {
        /// The capture format; none where the content shows it.
        format: Option<String> = None,
        /// For people, instead of JSON.
        #[serde(skip)]
        text: bool = false,
    }
}

/// Memory: what the format's reader holds, and a few counts.
impl Command for IdentifyOptions {
    fn answer(&self, recordings: &mut [Recording<'_>], output: &mut dyn Output) -> Result<Outcome, Error> {
        let asked = format("format", self.format.as_deref())?;
        for recording in recordings {
            let (format, found) = recording.reading(asked, identify)?;
            let answer = if self.text { text(format, &found) } else { found.to_json(format) };
            output.bytes().write_all(answer.as_bytes()).map_err(Cause::Output)?;
            if let Some(note) = found.note() {
                output.remark(Remark::Note(&format!("{}: {note}", recording.name)));
            }
        }
        Ok(Outcome::Well)
    }
}

fn text(format: &Format, found: &Identification) -> String {
    let made_up = found.evidence.iter().any(|piece| piece.sign == "made-up");
    let unknown = match made_up {
        true => "unknown (a conversion made it up)".to_owned(),
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
