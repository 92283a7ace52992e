//! Points in time, as milliseconds since the Unix epoch.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use std::ops::Range;

/// A time as recorders mostly write it; a nought stands for any digit.
const SHAPE: &[u8; 24] = b"0000-00-00T00:00:00.000Z";

/// An ISO 8601 date and time with an offset (RFC 3339), in milliseconds.
#[must_use]
pub fn parse(text: &str) -> Option<i64> {
    let time = usual(text).or_else(|| text.parse().ok());
    time.map(Timestamp::as_millisecond)
}

/// A time as recorders mostly write it, `2026-05-12T23:00:00.123Z`. Each message has one, and there are many ways to write a
/// time that need not be tried for it.
fn usual(text: &str) -> Option<Timestamp> {
    let bytes: &[u8; 24] = text.as_bytes().try_into().ok()?;
    let fits = |(byte, shape): (&u8, &u8)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
    if !bytes.iter().zip(SHAPE).all(fits) {
        return None;
    }
    let number = |digits: Range<usize>| {
        bytes[digits].iter().fold(0, |sum: i16, digit| 10 * sum + i16::from(digit - b'0'))
    };
    let two = |at: usize| i8::try_from(number(at..at + 2)).unwrap_or_default();
    let nanoseconds = 1_000_000 * i32::from(number(20..23));
    let time = DateTime::new(number(0..4), two(5), two(8), two(11), two(14), two(17), nanoseconds).ok()?;
    Offset::UTC.to_timestamp(time).ok()
}

/// The same in nanoseconds, which may decide what came first.
#[must_use]
pub(crate) fn nanoseconds(text: &str) -> Option<i128> {
    text.parse::<Timestamp>().ok().map(Timestamp::as_nanosecond)
}

/// Milliseconds as ISO 8601 in UTC, to the millisecond: `2026-05-12T23:00:00.123Z`. Beyond the years that ISO 8601
/// writes in four digits, the nearest such time.
#[must_use]
pub fn write(milliseconds: i64) -> String {
    const FIRST: i64 = -62_167_219_200_000;
    const LAST: i64 = 253_402_207_200_000;
    let time = Timestamp::from_millisecond(milliseconds.clamp(FIRST, LAST)).unwrap_or(Timestamp::UNIX_EPOCH);
    let time = Offset::UTC.to_datetime(time);
    let mut text = *SHAPE;
    let mut put = |place: Range<usize>, mut number: i16| {
        for digit in text[place].iter_mut().rev() {
            *digit += (number % 10) as u8;
            number /= 10;
        }
    };
    put(0..4, time.year());
    for (at, number) in
        [(5, time.month()), (8, time.day()), (11, time.hour()), (14, time.minute()), (17, time.second())]
    {
        put(at..at + 2, number.into());
    }
    put(20..23, time.millisecond());
    String::from_utf8_lossy(&text).into_owned()
}

/// Microseconds in the same way, to the microsecond where they are not whole milliseconds.
pub(crate) fn write_microseconds(microseconds: i64) -> String {
    match Timestamp::from_microsecond(microseconds) {
        Ok(time) if microseconds % 1000 != 0 => format!("{time:.6}"),
        _ => write(microseconds.div_euclid(1000)),
    }
}

#[cfg(test)]
mod tests {
    use super::{nanoseconds, parse, usual, write, write_microseconds};
    use jiff::Timestamp;

    #[test]
    fn times_read_and_write_to_the_millisecond() {
        for text in ["2026-05-12T23:00:00.123Z", "1970-01-01T00:00:00.000Z", "9999-12-30T00:00:00.001Z"] {
            assert_eq!(write(parse(text).unwrap()), text);
        }
        assert_eq!(parse("2026-05-13T01:00:00.123+02:00"), parse("2026-05-12T23:00:00.123Z"));
        assert_eq!(parse("2026-05-12T23:00:00Z"), Some(1_778_626_800_000));
        assert_eq!(parse("yesterday"), None);
        assert!(nanoseconds("1970-01-01T00:00:00.1002Z") > nanoseconds("1970-01-01T00:00:00.100100+00:00"));
        assert_eq!(write(i64::MAX), "9999-12-30T22:00:00.000Z");
        assert_eq!(write_microseconds(1_001), "1970-01-01T00:00:00.001001Z");
        assert_eq!(write_microseconds(-2_000), "1969-12-31T23:59:59.998Z");
    }
    #[test]
    fn a_time_in_the_usual_spelling_is_what_it_is_in_any() {
        let digits = ["0000", "0001", "1969", "1970", "1972", "2000", "2026", "2100", "9999"];
        let dates = ["01-01", "02-28", "02-29", "02-30", "04-31", "12-31", "00-10", "13-01", "05-00"];
        let times =
            ["00:00:00.000", "23:59:59.999", "12:30:45.678", "24:00:00.000", "00:60:00.000", "23:59:60.000"];
        let mut usually = 0;
        for (year, date, time) in
            digits.iter().flat_map(|year| dates.map(|date| times.map(|time| (year, date, time)))).flatten()
        {
            let text = format!("{year}-{date}T{time}Z");
            let time = text.parse::<Timestamp>().ok();
            assert!(usual(&text).is_none_or(|usual| Some(usual) == time), "{text}");
            assert_eq!(parse(&text), time.map(Timestamp::as_millisecond), "{text}");
            usually += usize::from(usual(&text).is_some());
        }
        // Three dates in each of nine years and one in its three leap years, at three times of the day; the last day of 9999 is
        // later than a timestamp can be.
        assert_eq!(usually, (9 * 3 + 3 - 1) * 3, "some times are not read in the short way");
        for other in
            ["2026-05-12 23:00:00.123Z", "2026-05-12T23:00:00.123z", "2026-05-12T23:00:00.12+Z", "２"]
        {
            assert_eq!(usual(other), None, "{other}");
        }
    }
}
