//! Where in a recording a finding stands, and what stands there.

use transcript::json::{self, Json, JsonKind};
use transcript::session::{Carrier, Location};

/// This much of the text around a place is shown, in characters.
const SHOWN: usize = 120;

/// What stands from this byte on is not seen in what is shown of a text's beginning, or not what is behind it.
const FAR: usize = 80;

/// A place in a recording.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FindingLocation {
    /// Where the entry begins, in bytes: what tells two apart that stand in one text.
    pub offset: u64,
    /// Line, from 1.
    pub line: u64,
    /// JSON pointer into the document, or into the line's value.
    pub pointer: String,
    /// JSON pointer into the message that stands there, where the message is itself inside a text.
    pub within: String,
    /// What stands there, on one line, cut to a length that can be shown.
    pub snippet: String,
}

impl FindingLocation {
    /// The place of an entry whose text is `text`.
    pub(crate) fn new(location: &Location, text: &str) -> Self {
        Self {
            offset: location.offset,
            line: location.line,
            pointer: location.pointer(),
            within: String::new(),
            snippet: excerpt(text, 0),
        }
    }

    /// The place of a value of a message: `value` is part of `message`'s text.
    pub(crate) fn inside(location: &Location, carrier: Carrier, message: &str, value: Json<'_>) -> Self {
        let mut location = Self::new(location, message);
        let Some(at) = offset(message, value.text()) else { return location };
        location.snippet = excerpt(message, at);
        let within = pointer_to(message, value.text());
        match carrier {
            Carrier::Line => location.pointer.push_str(&within),
            _ => location.within = within,
        }
        location
    }

    /// The same place, with what stands around byte `at` of its text where that is too far in for the beginning to show it.
    pub(crate) fn showing(self, text: &str, at: usize) -> Self {
        match at {
            FAR.. => Self { snippet: excerpt(text, at.min(text.len())), ..self },
            _ => self,
        }
    }
}

/// A place that may be asked for later and mostly is not: what it takes to make it, at little cost.
#[derive(Debug, Clone)]
pub(crate) struct SourceLocation {
    location: Location,
    /// As much of the text as a snippet may show, and whether there was more.
    text: Box<str>,
}

impl SourceLocation {
    /// Takes note of an entry whose text is `text`.
    pub(crate) fn new(location: &Location, text: &str) -> Self {
        // One character more tells that there was more. Most are one byte long, and a piece is counted at once.
        let (mut end, mut missing) = (0, SHOWN + 1);
        while missing > 0 && end < text.len() {
            let piece = &text.as_bytes()[end..text.len().min(end + missing)];
            missing -= characters(piece);
            end += piece.len();
        }
        let end = text.ceil_char_boundary(end);
        Self { location: *location, text: text[..end].into() }
    }

    /// The place.
    pub(crate) fn location(&self) -> FindingLocation {
        FindingLocation::new(&self.location, &self.text)
    }
}

/// How many characters begin in these bytes of UTF-8. Eight bytes at a time: those that go on with one begin with the bits 10.
fn characters(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    let going_on = |word: &[u8; 8]| {
        let word = u64::from_ne_bytes(*word);
        (word & !(word << 1) & 0x8080_8080_8080_8080).count_ones() as usize
    };
    bytes.len()
        - words.iter().map(going_on).sum::<usize>()
        - rest.iter().filter(|byte| (0x80..0xc0).contains(*byte)).count()
}

/// Where in `whole` a slice of it begins.
fn offset(whole: &str, part: &str) -> Option<usize> {
    let at = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    (at + part.len() <= whole.len()).then_some(at)
}

/// The JSON pointer (RFC 6901) from a value to a part of it.
fn pointer_to(whole: &str, part: &str) -> String {
    let mut pointer = String::new();
    let Ok(mut here) = Json::parse(whole) else { return pointer };
    let holds = |value: Json<'_>| offset(value.text(), part).is_some();
    while here.text().as_ptr() != part.as_ptr() || here.text().len() != part.len() {
        let next = match here.kind() {
            JsonKind::Object => here.members().find(|(_, value)| holds(*value)).map(|(name, value)| {
                let name = String::from_utf8_lossy(&name.decode()).replace('~', "~0").replace('/', "~1");
                (name, value)
            }),
            JsonKind::Array => (0_usize..)
                .zip(here.items())
                .find(|(_, value)| holds(*value))
                .map(|(index, value)| (index.to_string(), value)),
            _ => None,
        };
        let Some((token, value)) = next else { break };
        pointer.push('/');
        pointer.push_str(&token);
        here = value;
    }
    pointer
}

/// A piece of `text` around byte `at`, on one line.
pub(crate) fn excerpt(text: &str, at: usize) -> String {
    let start = text.floor_char_boundary(at.saturating_sub(SHOWN / 3));
    let mut out = String::new();
    if start > 0 {
        out.push('…');
    }
    let mut rest = text[start..].chars();
    for char in rest.by_ref().take(SHOWN) {
        out.push(if char.is_control() { ' ' } else { char });
    }
    if rest.next().is_some() {
        out.push('…');
    }
    out
}

/// A value as a person is shown it in a sentence: on one line, cut where it is long.
pub(crate) fn shown(value: Json<'_>) -> String {
    excerpt_of(value.text())
}

/// A text as a person is shown it in a sentence.
pub(crate) fn quoted(text: &str) -> String {
    excerpt_of(&json::quoted(text))
}

fn excerpt_of(text: &str) -> String {
    let mut out: String =
        text.chars().take(60).map(|char| if char.is_control() { ' ' } else { char }).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{FindingLocation, SourceLocation, pointer_to};
    use transcript::json::Json;
    use transcript::session::{Carrier, Location};

    #[test]
    fn a_part_is_found_by_where_it_stands() {
        let text = r#"{"a":1,"b~/c":[7,{"d":7}]}"#;
        let whole = Json::parse(text).unwrap();
        let list = whole.member("b~/c").unwrap();
        let deep = list.items().nth(1).unwrap().member("d").unwrap();
        assert_eq!(pointer_to(text, deep.text()), "/b~0~1c/1/d");
        assert_eq!(pointer_to(text, whole.text()), "");
        assert_eq!(pointer_to(text, "elsewhere"), "");
        let location = Location { line: 3, root: "/raw", ..Location::default() };
        let location = FindingLocation::inside(&location, Carrier::Line, text, deep);
        assert_eq!((location.line, &*location.pointer, &*location.within), (3, "/raw/b~0~1c/1/d", ""));
    }

    #[test]
    fn a_mark_makes_the_place_that_its_text_would_have_made() {
        let location = Location { line: 3, root: "/raw", ..Location::default() };
        for char in ["a", "é", "\u{10348}"] {
            for length in [0, 1, 119, 120, 121, 122, 483, 484, 485, 1000] {
                let text = char.repeat(length);
                assert_eq!(
                    SourceLocation::new(&location, &text).location(),
                    FindingLocation::new(&location, &text),
                    "{length}"
                );
                let text = format!("a{text}");
                assert_eq!(
                    SourceLocation::new(&location, &text).location(),
                    FindingLocation::new(&location, &text),
                    "{length}"
                );
            }
        }
    }

    #[test]
    fn a_fault_far_in_a_text_is_shown() {
        let text = format!("{{\"a\":\"{}\\q\"}}", "é".repeat(500));
        let location = FindingLocation::new(&Location::default(), &text);
        let snippet = |at| location.clone().showing(&text, at).snippet;
        assert!(snippet(text.find('\\').unwrap()).ends_with("é\\q\"}"));
        assert_eq!(snippet(text.len() + 1), format!("…{}\\q\"}}", "é".repeat(18)));
        assert_eq!(snippet(79), location.snippet);
    }

    #[test]
    fn a_snippet_is_short_and_on_one_line() {
        let text = format!("{{\n\"é\":\"{}\"}}", "é".repeat(500));
        let location = FindingLocation::new(&Location::default(), &text);
        assert!(
            location.snippet.chars().count() <= 121 && !location.snippet.contains('\n'),
            "{}",
            location.snippet
        );
        assert!(location.snippet.ends_with('…'));
    }
}
