//! Bodies, whatever their label says: JSON is looked for first. What could not be looked into is withheld.

use super::ledger::{MARKER, Rule};
use super::rules::Redaction;
use transcript::json::Json;

/// Names of events that say what a reader is to do with them.
pub(super) const EVENTS: &[&str] = &["message", "endpoint"];

impl Redaction {
    /// A whole body of this media type without what is to be taken out.
    pub fn body(&self, media_type: &str, body: &[u8]) -> String {
        let is = |name: &str| media_type.trim_start().to_ascii_lowercase().starts_with(name);
        let Ok(body) = std::str::from_utf8(body) else { return MARKER.to_owned() };
        match self.json(body) {
            Some(kept) => kept,
            None if is("application/x-www-form-urlencoded") && is_form(body) => self.text(body).into_owned(),
            None => self.marked(Rule::Unknown, body),
        }
    }

    /// A block of an event stream without what is to be taken out: its data as one text. Its id, which other requests
    /// repeat, is not touched. Comments and lines of no known field are withheld.
    pub fn event(&self, block: &[u8]) -> String {
        // A comment keeps the place in a stream.
        let Ok(block) = std::str::from_utf8(block) else { return format!(": {MARKER}\n\n") };
        let (mark, block) =
            block.split_at(if block.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 });
        let lines = lines(block);
        let said: Vec<&str> = lines.iter().filter_map(|(line, _)| field_value(line, "data")).collect();
        let said = said.join("\n");
        let names_endpoint = lines.iter().any(|(line, _)| field_value(line, "event") == Some("endpoint"));
        let kept = self.data(if names_endpoint { "endpoint" } else { "" }, &said);
        let mut out = mark.to_owned();
        let mut first = true;
        for (line, end) in lines {
            if field_value(line, "data").is_none() {
                out.push_str(&self.line(line));
                out.push_str(end);
            } else if kept == said {
                out.extend([line, end]);
            } else if std::mem::take(&mut first) {
                kept.split('\n').for_each(|part| out.extend(["data: ", part, end]));
            }
        }
        out
    }

    /// The data of an event of this name.
    pub fn data(&self, event: &str, data: &str) -> String {
        match self.json(data) {
            Some(kept) => kept,
            None if data.is_empty() => String::new(),
            // The address of HTTP+SSE.
            None if event == "endpoint" && !data.contains(char::is_whitespace) => {
                self.text(data).into_owned()
            }
            None => self.marked(Rule::Unknown, data),
        }
    }

    /// A line of an event that is none of its data.
    fn line(&self, line: &str) -> String {
        let is_number = |value: &str| value.bytes().all(|byte| byte.is_ascii_digit());
        if line.is_empty()
            || line == ":"
            || field_value(line, "id").is_some()
            || field_value(line, "retry").is_some_and(is_number)
        {
            return line.to_owned();
        }
        match field_value(line, "event") {
            Some(name) if EVENTS.contains(&name) => line.to_owned(),
            Some(_) => self.text(line).into_owned(),
            None => format!(": {MARKER}"),
        }
    }

    /// JSON without what is to be taken out; none where it is not JSON.
    fn json(&self, text: &str) -> Option<String> {
        Json::parse(text).ok()?;
        Some(self.message(text).unwrap_or_else(|| text.to_owned()))
    }
}

/// Whether each part of it is a name, or a name with a value.
fn is_form(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.*+%~!$'(),:;@/?[]=".contains(&byte);
    text.split('&').all(|part| part.contains('=') && part.bytes().all(plain))
}

/// Lines with their ends; the last one may have none.
fn lines(mut text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    while !text.is_empty() {
        let at = text.find(['\n', '\r']).unwrap_or(text.len());
        let (line, rest) = text.split_at(at);
        let end = if rest.starts_with("\r\n") { 2 } else { rest.len().min(1) };
        found.push((line, &rest[..end]));
        text = &rest[end..];
    }
    found
}

/// What a line says, where it is one of this field.
fn field_value<'l>(line: &'l str, field: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(field)?;
    match rest.strip_prefix(':') {
        Some(value) => Some(value.strip_prefix(' ').unwrap_or(value)),
        None => rest.is_empty().then_some(""),
    }
}
