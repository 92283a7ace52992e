//! Points in time, as milliseconds since the Unix epoch.

use jiff::{Timestamp, Unit, tz::TimeZone};

/// An ISO 8601 date and time with an offset (RFC 3339), in milliseconds.
#[must_use]
pub fn parse(text: &str) -> Option<i64> {
    usual(text.as_bytes()).or_else(|| text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond))
}

/// The same in nanoseconds, for whoever puts things in order by it.
#[must_use]
pub(crate) fn nanoseconds(text: &str) -> Option<i128> {
    text.parse::<Timestamp>().ok().map(Timestamp::as_nanosecond)
}

/// The one spelling that recorders nearly always use, `2026-05-12T23:00:00.123Z`, read at a glance: a trace has a
/// time on each line. None for every other spelling and for what is no such date.
fn usual(text: &[u8]) -> Option<i64> {
    let text: &[u8; 24] = text.try_into().ok()?;
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')];
    if marks.iter().any(|&(at, mark)| text[at] != mark) {
        return None;
    }
    let number = |from: usize, to: usize| {
        text[from..to].iter().try_fold(0, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0'))
        })
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=days).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Years that begin in March have their odd day at the end, and every month its place.
    let year = year - i64::from(month < 3);
    let of_the_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let since_march_of_year_0 =
        365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_the_year;
    let seconds = ((since_march_of_year_0 - 719_468) * 24 + hour) * 3600 + minute * 60 + second;
    Some(seconds * 1000 + number(20, 23)?)
}

/// Milliseconds as ISO 8601 in UTC, to the millisecond: `2026-05-12T23:00:00.123Z`. Beyond the years that ISO 8601
/// writes in four digits, the nearest such time.
#[must_use]
pub fn write(milliseconds: i64) -> String {
    const FIRST: i64 = -62_167_219_200_000;
    const LAST: i64 = 253_402_207_200_000;
    let time = Timestamp::from_millisecond(milliseconds.clamp(FIRST, LAST)).unwrap_or(Timestamp::UNIX_EPOCH);
    let time = time.round(Unit::Millisecond).unwrap_or(time).to_zoned(TimeZone::UTC);
    format!("{:.3}Z", time.datetime())
}

#[cfg(test)]
mod tests {
    use super::{nanoseconds, parse, usual, write};
    use jiff::Timestamp;
    use proptest::prelude::*;

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
    }

    proptest! {
        #[test]
        fn the_usual_spelling_reads_as_the_general_reader_has_it(
            (year, month, day) in (0..9999, 0..=13, 0..=32),
            (hour, minute, second, fraction) in (0..=24, 0..=60, 0..=61, 0..=999),
        ) {
            let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z");
            let theirs = text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond);
            // A leap second is left to the general reader.
            prop_assert_eq!(usual(text.as_bytes()), theirs.filter(|_| second != 60), "{}", text);
        }
    }
}
