//! Points in time, as milliseconds since the Unix epoch.

use jiff::Timestamp;

/// An ISO 8601 date and time with an offset (RFC 3339), in milliseconds.
#[must_use]
pub fn parse(text: &str) -> Option<i64> {
    text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
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
    format!("{time:.3}")
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
    use super::{nanoseconds, parse, write, write_microseconds};

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
}
