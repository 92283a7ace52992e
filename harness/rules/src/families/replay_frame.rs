//! The lines of mcp-replay traces around the messages that they carry.
//!
//! Which members such a line has, how times are spelled, and when a line is like one before it.

use std::ops::Range;
use transcript::json::{Json, JsonString};

/// More around a message is not remembered, in bytes on either side.
const LONGEST_FRAME: usize = 256;

/// What was around a message whose line has nothing wrong. Most lines of a trace differ from another one in their message
/// and only their time, and need not be taken apart.
pub(super) struct Frame {
    before: Box<str>,
    after: Box<str>,
    /// Where in what stands before it the time is, from quote to quote.
    time: Range<usize>,
}

impl Frame {
    /// None where the line is longer around its message than is worth keeping, or has its time behind it.
    pub(super) fn new(line: &str, carried: &str, t: Json<'_>) -> Option<Self> {
        let at = |part: &str| part.as_ptr().addr().checked_sub(line.as_ptr().addr());
        let (before, after) = around(line, carried)?;
        let time = at(t.text())?..at(t.text())? + t.text().len();
        let short = before.len() <= LONGEST_FRAME && after.len() <= LONGEST_FRAME;
        (short && time.end <= before.len()).then(|| Self { before: before.into(), after: after.into(), time })
    }

    /// Whether a line has the same around its message, but for its time, which is spelled like one. A reader may have `read` that
    /// as a time, which is then on the calendar.
    pub(super) fn fits(&self, line: &str, carried: &str, read: bool) -> bool {
        let Some((before, after)) = around(line, carried) else { return false };
        before.len() == self.before.len()
            && *after == *self.after
            && before.get(..self.time.start) == self.before.get(..self.time.start)
            && before.get(self.time.end..) == self.before.get(self.time.end..)
            && before
                .get(self.time.start + 1..self.time.end - 1)
                .is_some_and(|time| is_spelled_like_a_moment(time) && (read || is_on_the_calendar(time)))
    }
}

/// What stands in a line before and behind the message that it carries.
fn around<'l>(line: &'l str, carried: &str) -> Option<(&'l str, &'l str)> {
    let at = carried.as_ptr().addr().checked_sub(line.as_ptr().addr()).filter(|_| !carried.is_empty())?;
    Some((line.get(..at)?, line.get(at + carried.len()..)?))
}

/// Whether a value is a moment as the format spells it: `2026-05-12T23:00:00.100Z`.
pub(super) fn is_moment(value: Json<'_>) -> bool {
    value
        .as_text()
        .map(JsonString::raw)
        .is_some_and(|time| is_spelled_like_a_moment(time) && is_on_the_calendar(time))
}

fn is_spelled_like_a_moment(text: &str) -> bool {
    const SHAPE: &[u8; 24] = b"0000-00-00T00:00:00.000Z";
    let Some(text) = text.as_bytes().as_array::<24>() else { return false };
    // All of it at once: nearly every time is spelled well.
    let fits = |byte: u8, shape: u8| if shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
    text.iter().zip(SHAPE).fold(true, |fine, (byte, shape)| fine & fits(*byte, *shape))
}

/// Whether a moment that is spelled like one was or will be. A leap second is the 60th of a minute.
pub(super) fn is_on_the_calendar(text: &str) -> bool {
    let number = |range: Range<usize>| text.get(range).and_then(|digits| digits.parse::<u16>().ok());
    let (Some(year), Some(month), Some(day)) = (number(0..4), number(5..7), number(8..10)) else {
        return false;
    };
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    };
    let within = |range, most| number(range).is_some_and(|number| number <= most);
    (1..=12).contains(&month)
        && (1..=days).contains(&day)
        && within(11..13, 23)
        && within(14..16, 59)
        && within(17..19, 60)
}

#[cfg(test)]
mod tests {
    use super::{Frame, is_moment};
    use transcript::json::members_around;

    /// The line's frame, if it has one worth keeping, and its message.
    fn frame(line: &str) -> Option<Frame> {
        let mut t = None;
        members_around(line, carried(line), |name, value| t = name.is("t").then_some(value).or(t)).ok()?;
        Frame::new(line, carried(line), t.filter(|t| is_moment(*t))?)
    }

    fn carried(line: &str) -> &str {
        let start = line.find("{\"j").unwrap();
        &line[start..=start + line[start..].find('}').unwrap()]
    }

    fn fits(frame: &Frame, line: &str) -> bool {
        frame.fits(line, carried(line), false)
    }

    #[test]
    fn a_line_fits_that_differs_in_its_message_and_its_time_alone() {
        let line = r#"{"t":"2026-05-12T23:00:00.100Z","dir":"in","raw":{"j":1}}"#;
        let frame = frame(line).unwrap();
        for (from, to, same) in [
            ("00.100Z", "59.999Z", true),
            ("{\"j\":1}", "{\"j\":\"longer\"}", true),
            ("00.100Z", "00.100z", false),
            ("2026-05", "2o26-05", false),
            ("\"in\"", "\"up\"", false),
            ("\"in\"", "\"out\"", false),
            ("}}", "},\"x\":1}", false),
            ("{\"t\"", "{\"u\"", false),
        ] {
            assert_eq!(fits(&frame, &line.replace(from, to)), same, "{from} as {to}");
        }
    }

    #[test]
    fn what_is_unusual_has_no_frame() {
        let usual = r#"{"t":"2026-05-12T23:00:00.100Z","raw":{"j":1}}"#;
        assert!(frame(usual).is_some());
        assert!(frame(r#"{"raw":{"j":1},"t":"2026-05-12T23:00:00.100Z"}"#).is_none(), "the time comes after");
        assert!(frame(&usual.replace("2026", "26")).is_none(), "the time is none");
        let long = usual.replace("\"raw\"", &format!("\"x\":\"{}\",\"raw\"", "x".repeat(300)));
        assert!(frame(&long).is_none(), "too long to keep");
    }
}
