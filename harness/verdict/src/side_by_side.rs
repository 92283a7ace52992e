//! What was expected and what came, as two texts that a person can lay side by side.
//!
//! How a meaning is written with an event a line and its members in one order.

use crate::answer::{Answer, Level};
use crate::expectation::Expectation;
use crate::identified::Identified;
use crate::record::{BothSides, kept};
use transcript::json::{Json, JsonKind, write_compact, write_string};

/// The order in which an event's members are read with the least effort; any others follow as they stand.
const ORDER: &[&str] =
    &["kind", "id", "answers", "method", "tool", "arguments", "params", "result", "error", "outcome"];

/// Both sides of a reading that fell short.
pub fn sides(expectation: &Expectation, level: Level, answer: &Answer) -> BothSides {
    let expected = match expectation {
        Expectation::Rejection(code) => format!("a rejection ({code})\n"),
        Expectation::Either(None) => "the same in every format: one reading, or a rejection\n".to_owned(),
        Expectation::Meaning(meaning) | Expectation::Either(Some(meaning)) => match level {
            Level::Events => lines(meaning.json()),
            Level::Calls => lines(meaning.calls().json()),
        },
    };
    BothSides { expected: kept(&expected), actual: kept(&shown(answer)) }
}

/// Both sides of an identification that fell short.
pub fn identified(expected: &Identified, answer: &Answer) -> BothSides {
    let expected = match expected {
        Identified::As(expected) => lines(expected.json()),
        Identified::Refused => "a rejection\n".to_owned(),
    };
    BothSides { expected: kept(&expected), actual: kept(&shown(answer)) }
}

/// What came, with an item a line.
fn shown(answer: &Answer) -> String {
    match answer {
        Answer::Meaning(meaning) => lines(meaning.json()),
        Answer::Calls(calls) => lines(calls.json()),
        Answer::Identification(found) => lines(found.json()),
        Answer::Rejection { message, .. } => format!("{}\n{message}\n", answer.in_words()),
        Answer::Unsupported { why } => format!("unsupported: {why}\n"),
        Answer::Broken { message, .. } => format!("{}\n{message}\n", answer.in_words()),
    }
}

/// A meaning, a calls projection or an identification with an item a line.
fn lines(value: Json<'_>) -> String {
    let mut out = Vec::new();
    for (name, member) in value.members() {
        if member.kind() == JsonKind::Array {
            for item in member.items() {
                ordered(item, &mut out);
                out.push(b'\n');
            }
        } else {
            write_string(&name.decode(), &mut out);
            out.extend_from_slice(b": ");
            write_compact(member, &mut out);
            out.push(b'\n');
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn ordered(event: Json<'_>, out: &mut Vec<u8>) {
    if event.kind() != JsonKind::Object {
        return write_compact(event, out);
    }
    let mut members: Vec<_> = event.members().collect();
    let rank = |name: &str| ORDER.iter().position(|known| *known == name).unwrap_or(ORDER.len());
    // Stable: what stands twice keeps its order.
    members.sort_by_key(|(name, _)| name.to_str().map_or(ORDER.len(), |name| rank(&name)));
    out.push(b'{');
    for (index, (name, value)) in members.into_iter().enumerate() {
        out.extend_from_slice(if index == 0 { b"" } else { b", " });
        write_string(&name.decode(), out);
        out.extend_from_slice(b": ");
        write_compact(value, out);
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::sides;
    use crate::answer::{Answer, Level};
    use crate::expectation::Expectation;
    use crate::meaning::Meaning;
    use transcript::rejection::Code;

    #[test]
    fn equal_events_are_equal_lines_however_they_were_written() {
        let one = r#"{"events":[{"method":"a","kind":"notification","params":{"n":1e400}}],"authorization_discovery":null}"#;
        let two = "{\"authorization_discovery\": null, \"events\": [\n {\"kind\": \"notification\", \"method\": \"a\",\n \"params\": { \"n\" : 1e400}} ] }";
        let whole = sides(
            &Expectation::Meaning(Meaning::parse(one).unwrap()),
            Level::Events,
            &Answer::Meaning(Meaning::parse(two).unwrap()),
        );
        let line = "{\"kind\": \"notification\", \"method\": \"a\", \"params\": {\"n\":1e400}}\n";
        assert!(whole.expected.starts_with(line) && whole.actual.contains(line), "{whole:?}");
    }

    #[test]
    fn what_is_no_reading_is_told_in_words() {
        let answer = Answer::Rejection { code: None, message: "no".into() };
        let whole = sides(&Expectation::Rejection(Code::InvalidId), Level::Events, &answer);
        assert_eq!(whole.expected, "a rejection (invalid-id)\n");
        assert_eq!(whole.actual, "a rejection\nno\n");
    }
}
