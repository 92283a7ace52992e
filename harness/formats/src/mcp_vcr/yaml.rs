//! YAML as JSON: an item of a transcript, event by event.

use super::scalar::Plain;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use transcript::json::write_string;
use transcript::message::Refusal;
use transcript::rejection::Code;

/// The one item of a list, as JSON.
///
/// # Errors
/// Where it is not YAML, not one item, or has what JSON has not. The place counts from the beginning of `text`.
pub(super) fn item(text: &str) -> Result<String, Refusal> {
    let mut json = Json::default();
    let mut depth = 0usize;
    for step in Parser::new_from_str(text) {
        let (event, span) = match step {
            Ok(step) => step,
            Err(error) => {
                let message = format!("this is not valid YAML: {}", error.info());
                return Err(wrong(at(text, error.marker().index()), message));
            }
        };
        let refuse = |what: String| wrong(at(text, span.start.index()), what);
        match &event {
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {
                continue;
            }
            // The list around the item.
            Event::SequenceStart(..) if depth == 0 => depth = 1,
            Event::SequenceEnd if depth == 1 => depth = 0,
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                json.value(&event).map_err(refuse)?;
                depth += 1;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                depth -= 1;
                json.close();
            }
            _ if depth == 0 => {
                return Err(refuse("a message of a transcript is an item of a list".to_owned()));
            }
            _ => json.value(&event).map_err(refuse)?,
        }
    }
    // The scanner hands text on, of which JSON is made.
    Ok(String::from_utf8(json.out).unwrap_or_default())
}

fn wrong(at: usize, message: String) -> Refusal {
    Refusal { code: Code::InvalidJson, clause: "SRV-BYTES", at, message }
}

/// The place of a character, in bytes.
fn at(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(at, _)| at)
}

/// What is open.
enum Open {
    List,
    /// A mapping, and whether a key comes next.
    Map(bool),
}

#[derive(Default)]
struct Json {
    out: Vec<u8>,
    open: Vec<Open>,
}

impl Json {
    /// A scalar, or the beginning of a list or a mapping.
    fn value(&mut self, event: &Event<'_>) -> Result<(), String> {
        let is_key = matches!(self.open.last(), Some(Open::Map(true)));
        let has_begun = matches!(self.out.last(), None | Some(b'[' | b'{' | b':'));
        if !has_begun {
            self.out.push(b',');
        }
        if let Some(Open::Map(key)) = self.open.last_mut() {
            *key = !*key;
        }
        match event {
            Event::Scalar(text, style, _, tag) => self.scalar(text, *style, tag.as_deref(), is_key)?,
            Event::SequenceStart(..) | Event::MappingStart(..) if is_key => {
                return Err("a key is text, and this is a list or a mapping".to_owned());
            }
            Event::SequenceStart(_, None) => {
                self.out.push(b'[');
                self.open.push(Open::List);
            }
            Event::MappingStart(_, None) => {
                self.out.push(b'{');
                self.open.push(Open::Map(true));
            }
            Event::Alias(_) => {
                return Err("an alias stands for something else, and is not followed".to_owned());
            }
            _ => return Err(TAGGED.to_owned()),
        }
        if is_key {
            self.out.push(b':');
        }
        Ok(())
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        is_key: bool,
    ) -> Result<(), String> {
        let is_text = match tag {
            None => style != ScalarStyle::Plain,
            Some(tag) if tag.handle == "tag:yaml.org,2002:" && tag.suffix == "str" => true,
            Some(_) => return Err(TAGGED.to_owned()),
        };
        let plain = if is_text { Plain::Text } else { Plain::of(text) };
        match plain {
            Plain::Text => write_string(text.as_bytes(), &mut self.out),
            Plain::Json(_) if is_key => {
                return Err(format!("a key is text, and `{}` is none unless it is quoted", short(text)));
            }
            Plain::Json(json) => self.out.extend_from_slice(json.as_bytes()),
            Plain::Other(what) => {
                return Err(format!("`{}` is {what}; where it is text, it is to be quoted", short(text)));
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        self.out.push(match self.open.pop() {
            Some(Open::List) => b']',
            _ => b'}',
        });
    }
}

const TAGGED: &str = "a tag may make something else of this than JSON has";

fn short(text: &str) -> String {
    text.chars().take(40).collect()
}
