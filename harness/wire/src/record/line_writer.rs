//! One line of stdio as lines of an mcp-replay v1 trace.
//!
//! A message with a fault (an id that is an array, two results) is recorded as a message. Noise is everything else:
//! text, another program's JSON, bytes that are not UTF-8; it is kept under a `dir` that readers skip. A batch is
//! recorded as its messages, each on a line of its own with the number of the batch, so that no reader loses them.

use super::intake::End;
use super::signals::signal_name;
use crate::redaction::Redaction;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;
use std::io::Write as _;
use transcript::json::{Json, JsonKind, write_compact, write_string};
use transcript::message::{Message, resembles_message};
use transcript::session::Side;

/// What makes a line a message of a batch: its number in the trace.
type Batch = Option<u64>;

/// Writes lines of a trace.
#[derive(Debug)]
pub(super) struct LineWriter {
    pub(super) redaction: Redaction,
    batches: u64,
    stamp: (i64, String),
    /// Blank lines of one kind that are not written yet.
    blank: Option<Blank>,
}

/// Blank lines behind each other: who wrote them, the first one's time, one of them, and how many they are.
type Blank = (Side, i64, Vec<u8>, u64);

impl LineWriter {
    pub(super) fn new(redaction: Redaction) -> Self {
        Self { redaction, batches: 0, stamp: (0, formats::time::write(0)), blank: None }
    }

    /// Appends what `line` says, in whole lines.
    pub(super) fn line(&mut self, time: i64, side: Side, line: &[u8], out: &mut Vec<u8>) {
        if let Some((_, _, _, count)) = self.blank.as_mut().filter(|it| it.0 == side && it.2 == line) {
            *count += 1;
            return;
        }
        self.blanks(out);
        if matches!(line, [] | [b'\r']) {
            self.blank = Some((side, time, line.to_owned(), 1));
            return;
        }
        let Ok(text) = std::str::from_utf8(line) else { return self.noise(time, side, line, out) };
        // A byte order mark belongs to no message, and takes none with it.
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) if is_said(rest) => {
                self.noise(time, side, "\u{feff}".as_bytes(), out);
                rest
            }
            _ => text,
        };
        if let Ok(message) = Message::parse(text) {
            return self.message(time, side, message.text(), None, out);
        }
        match Json::parse(text) {
            Ok(value) if resembles_message(value) => self.message(time, side, value.text(), None, out),
            Ok(value) if is_batch(value) => {
                self.batches += 1;
                let batch = Some(self.batches);
                value.items().for_each(|item| self.message(time, side, item.text(), batch, out));
            }
            _ => self.noise(time, side, text.as_bytes(), out),
        }
    }

    /// Appends the blank lines that wait, as one: a program may print millions.
    pub(super) fn blanks(&mut self, out: &mut Vec<u8>) {
        let Some((side, time, line, count)) = self.blank.take() else { return };
        self.noise(time, side, &line, out);
        if count > 1 {
            out.truncate(out.len() - b"}}\n".len());
            let _ = writeln!(out, r#","lines":{count}}}}}"#);
        }
    }

    fn message(&mut self, time: i64, side: Side, text: &str, batch: Batch, out: &mut Vec<u8>) {
        self.message_head(time, side, batch, out);
        let text = self.redaction.message(text).map_or(Cow::Borrowed(text), Cow::Owned);
        // A line of the wire may hold a carriage return between two tokens, and some readers end a line there.
        let torn = memchr::memchr(b'\r', text.as_bytes()).and_then(|_| Json::parse(&text).ok());
        match torn {
            Some(value) => write_compact(value, out),
            None => out.extend_from_slice(text.as_bytes()),
        }
        out.extend_from_slice(b"}\n");
    }

    /// Appends the beginning of a message's line, up to the message.
    pub(super) fn message_head(&mut self, time: i64, side: Side, batch: Batch, out: &mut Vec<u8>) {
        self.open(time, dir(side), out);
        if let Some(number) = batch {
            let _ = write!(out, r#","batch":{number}"#);
        }
        out.extend_from_slice(br#","raw":"#);
    }

    /// Appends a line of noise.
    pub(super) fn noise(&mut self, time: i64, side: Side, noise: &[u8], out: &mut Vec<u8>) {
        self.noise_head(time, side, out);
        if self.redaction.is_asked() {
            let _ = write!(out, r#""withheld":{}"#, noise.len());
        } else if std::str::from_utf8(noise).is_ok() {
            out.extend_from_slice(br#""text":"#);
            write_string(noise, out);
        } else {
            let _ = write!(out, r#""base64":"{}""#, STANDARD.encode(noise));
        }
        out.extend_from_slice(b"}}\n");
    }

    /// Appends the beginning of a line of noise, up to the member that holds it.
    pub(super) fn noise_head(&mut self, time: i64, side: Side, out: &mut Vec<u8>) {
        self.open(time, "event", out);
        let _ = write!(out, r#","kind":"stdio.noise","raw":{{"from":"{}","#, side.name());
    }

    /// Appends a line that says how many lines of each side are missing here.
    pub(super) fn gap(&mut self, time: i64, missing: [u64; 2], out: &mut Vec<u8>) {
        self.open(time, "event", out);
        let [client, server] = missing;
        let _ = writeln!(
            out,
            r#","kind":"recorder.gap","raw":{{"lines_lost":{{"client":{client},"server":{server}}}}}}}"#
        );
    }

    /// Appends the last line.
    pub(super) fn end(&mut self, time: i64, started: i64, end: End, out: &mut Vec<u8>) {
        let duration = time.saturating_sub(started).max(0);
        let exit = end.exit.code.unwrap_or(1);
        let input = if end.is_input_open { "open" } else { "closed" };
        let _ = write!(
            out,
            r#"{{"t":"{}","type":"end","exitCode":{exit},"durationMs":{duration},"_input":"{input}""#,
            self.stamp(time)
        );
        if let Some(signal) = end.exit.signal.and_then(signal_name) {
            let _ = write!(out, r#","_signal":"{signal}""#);
        }
        out.extend_from_slice(b"}\n");
    }

    fn open(&mut self, time: i64, dir: &str, out: &mut Vec<u8>) {
        let _ = write!(out, r#"{{"t":"{}","dir":"{dir}""#, self.stamp(time));
    }

    /// Many lines share a millisecond.
    fn stamp(&mut self, time: i64) -> &str {
        if self.stamp.0 != time {
            self.stamp = (time, formats::time::write(time));
        }
        &self.stamp.1
    }
}

/// The first line of a trace.
pub(super) fn meta(started: i64, label: &str, command: &[String]) -> Vec<u8> {
    let mut line = formats::trace_start(started, label, command, None).into_bytes();
    line.push(b'\n');
    line
}

fn dir(side: Side) -> &'static str {
    match side {
        Side::Client => "in",
        Side::Server => "out",
    }
}

fn is_said(text: &str) -> bool {
    Json::parse(text).is_ok_and(|value| resembles_message(value) || is_batch(value))
}

/// A list of messages and of nothing else.
fn is_batch(value: Json<'_>) -> bool {
    value.kind() == JsonKind::Array && value.items().next().is_some() && value.items().all(resembles_message)
}

#[cfg(test)]
mod tests {
    use super::{LineWriter, Redaction};
    use transcript::session::Side;

    fn spelt(line: &[u8]) -> String {
        let mut out = Vec::new();
        let mut writer = LineWriter::new(Redaction::default());
        writer.line(123, Side::Server, line, &mut out);
        writer.blanks(&mut out);
        String::from_utf8(out).unwrap().replace(r#"{"t":"1970-01-01T00:00:00.123Z","dir":"#, "")
    }

    #[test]
    fn each_line_is_kept_as_what_it_is() {
        for row in include_str!("lines.tsv").lines().filter(|row| !row.starts_with('#')) {
            let row = row.replace('␊', "\n").replace('␍', "\r").replace("(mark)", "\u{feff}");
            let (line, expected) = row.split_once('\t').unwrap();
            assert_eq!(spelt(line.as_bytes()), format!("{expected}\n"), "{line}");
        }
        let noise = r#""event","kind":"stdio.noise","raw":{"from":"server","base64":"/3t9"}}"#;
        assert_eq!(spelt(b"\xff{}"), format!("{noise}\n"));
    }

    #[test]
    fn blank_lines_behind_each_other_are_one_event() {
        let (mut out, mut writer) = (Vec::new(), LineWriter::new(Redaction::default()));
        for (side, line) in [(Side::Server, ""), (Side::Server, ""), (Side::Client, ""), (Side::Client, "{}")]
        {
            writer.line(0, side, line.as_bytes(), &mut out);
        }
        let out = String::from_utf8(out).unwrap();
        let raws: Vec<&str> = out.lines().filter_map(|line| Some(line.split_once("\"raw\":")?.1)).collect();
        let [two, one] = [r#"{"from":"server","text":"","lines":2}}"#, r#"{"from":"client","text":""}}"#];
        assert_eq!(raws, [two, one, r#"{"from":"client","text":"{}"}}"#]);
    }

    #[test]
    fn noise_is_withheld_where_redaction_is_asked_for() {
        let redaction = Redaction::new(&["token".to_owned()], &[]).unwrap();
        let mut out = Vec::new();
        LineWriter::new(redaction).line(0, Side::Client, br#"{"token":"abc"#, &mut out);
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains(r#""withheld":13}"#) && !out.contains("abc"), "{out}");
    }
}
