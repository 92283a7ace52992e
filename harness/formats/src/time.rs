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
    usual(text).map(Timestamp::as_millisecond).or_else(|| to_milliseconds(attoseconds(text)?))
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

/// The same in attoseconds, which may decide what came first: digits behind the eighteenth are left out.
#[must_use]
pub(crate) fn attoseconds(text: &str) -> Option<i128> {
    let from = text.find(['.', ',']).map_or(text.len(), |point| point + 1);
    let digits = text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let Some(beyond) = digits.checked_sub(9) else { return Some(timestamp(text)? * 1_000_000_000) };
    let (known, more) = (from + 9, &text[from + 9..from + digits]);
    let nanoseconds = timestamp(&[&text[..known], &text[from + digits..]].concat())?;
    let more = more.bytes().chain(std::iter::repeat_n(b'0', 9_usize.saturating_sub(beyond))).take(9);
    Some(nanoseconds * 1_000_000_000 + more.fold(0, |sum, digit| 10 * sum + i128::from(digit - b'0')))
}

/// The same of a date in the grammar of RFC 3339: with seconds, in a zone of less than a day, and with nothing behind that.
#[must_use]
pub(crate) fn rfc_3339(text: &str) -> Option<i128> {
    let fits = |part: &str, shape: &str| {
        let is = |(byte, shape): (u8, u8)| match shape {
            b'0' => byte.is_ascii_digit(),
            b'T' => b"Tt ".contains(&byte),
            b'+' => b"+-".contains(&byte),
            _ => byte == shape,
        };
        part.len() == shape.len() && part.bytes().zip(shape.bytes()).all(is)
    };
    let (clock, zone) = match text.strip_suffix(['Z', 'z']) {
        Some(clock) => (clock, "+00:00"),
        None => text.split_at_checked(text.len().checked_sub(6)?)?,
    };
    let (seconds, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let is_zone = fits(zone, "+00:00") && zone[1..] < *"24" && zone[4..] < *"60";
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    (is_zone && is_fraction && fits(seconds, "0000-00-00T00:00:00")).then(|| attoseconds(text))?
}

/// A time in nanoseconds. The last day of the year 9999 is later than a [`Timestamp`] may be, and as long as that of 9599, whose
/// calendar is the same.
fn timestamp(text: &str) -> Option<i128> {
    const YEARS: i128 = 146_097 * 86_400_000_000_000;
    let time = |text: &str| Some(text.parse::<Timestamp>().ok()?.as_nanosecond());
    time(text).or_else(|| Some(time(&format!("9599{}", text.strip_prefix("9999")?))? + YEARS))
}

/// A number of milliseconds, as JSON spells it, in attoseconds: without what is smaller, and the nearest that there is.
pub(crate) fn of_milliseconds(number: &str) -> i128 {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let beyond = if exponent.starts_with('-') { i64::MIN } else { i64::MAX };
    let power = exponent.parse().unwrap_or(beyond).saturating_add(15);
    let digits = || whole.bytes().chain(fraction.bytes()).filter(u8::is_ascii_digit);
    let noughts = digits().take_while(|digit| *digit == b'0').count();
    let places = (digits().count() - noughts) as i64 - fraction.len() as i64;
    // One digit more than an i128 has is as good as all of them.
    let kept = usize::try_from(places.saturating_add(power).clamp(0, 40)).unwrap_or_default();
    let sum = digits()
        .skip(noughts)
        .chain(std::iter::repeat(b'0'))
        .take(kept)
        .fold(0_i128, |sum, digit| sum.saturating_mul(10).saturating_add(i128::from(digit - b'0')));
    if number.starts_with('-') { -sum } else { sum }
}

/// Attoseconds in milliseconds, where they are within their range.
pub(crate) fn to_milliseconds(attoseconds: i128) -> Option<i64> {
    i64::try_from(attoseconds.div_euclid(1_000_000_000_000_000)).ok()
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
    use super::{attoseconds, of_milliseconds, parse, rfc_3339, usual, write, write_microseconds};
    use jiff::Timestamp;

    #[test]
    fn times_read_and_write_to_the_millisecond() {
        for text in ["2026-05-12T23:00:00.123Z", "1970-01-01T00:00:00.000Z", "9999-12-30T00:00:00.001Z"] {
            assert_eq!(write(parse(text).unwrap()), text);
        }
        assert_eq!(parse("2026-05-13T01:00:00.123+02:00"), parse("2026-05-12T23:00:00.123Z"));
        assert_eq!(parse("2026-05-12T23:00:00Z"), Some(1_778_626_800_000));
        assert_eq!(parse("yesterday"), None);
        assert!(attoseconds("1970-01-01T00:00:00.1002Z") > attoseconds("1970-01-01T00:00:00.100100+00:00"));
        assert_eq!(
            attoseconds("1970-01-01T01:00:01.0000000000000000012+01:00"),
            Some(1_000_000_000_000_000_001)
        );
        assert_eq!(attoseconds("1969-12-31T23:59:59.9999999999Z"), Some(-100_000_000));
        assert_eq!(
            parse("9999-12-31T23:59:59-01:00"),
            parse("9999-12-30T23:59:59-01:00").map(|time| time + 86_400_000)
        );
        assert_eq!((attoseconds("2026-05-12T23:00:00.Z"), attoseconds("9999-12-32T00:00:00Z")), (None, None));
        assert_eq!(write(i64::MAX), "9999-12-30T22:00:00.000Z");
        assert_eq!(write_microseconds(1_001), "1970-01-01T00:00:00.001001Z");
        assert_eq!(write_microseconds(-2_000), "1969-12-31T23:59:59.998Z");
    }

    #[test]
    fn the_grammar_of_rfc_3339_has_one_form() {
        for text in [
            "2026-05-12T23:00:00Z",
            "2026-05-12t23:00:00.1z",
            "2026-05-12T23:00:00-00:00",
            "2026-12-31T23:59:60Z",
            "2026-05-12T23:00:00.0123456789012345678901234567890123456789+23:59",
        ] {
            assert!(rfc_3339(text).is_some(), "{text}");
        }
        for text in [
            "",
            "Z",
            "2026-05-12T23Z",
            "2026-05-12T23:00Z",
            "20260512T230000Z",
            "2026-05-12T23:00:00",
            "2026-05-12T23:00:00.Z",
            "2026-05-12T23:00:00,1Z",
            "2026-05-12T23:00:00+25:00",
            "2026-05-12T23:00:00+02",
            "2026-05-12T23:00:00+0200",
            "2026-05-12T23:00:00Z[UTC]",
            "2026-05-12T24:00:00Z",
            "2026-05-12T23:00:00é00:00",
            " 2026-05-12T23:00:00Z",
        ] {
            assert_eq!(rfc_3339(text), None, "{text}");
        }
    }

    #[test]
    fn milliseconds_are_exact_in_every_spelling() {
        for (number, attoseconds) in [
            ("0", 0),
            ("-0.0e9", 0),
            ("1.5", 1_500_000_000_000_000),
            ("-15e-1", -1_500_000_000_000_000),
            ("0.00000000000000123E+1", 12),
            ("9007199254740993", 9_007_199_254_740_993_000_000_000_000_000),
            ("1e400", i128::MAX),
            ("-1e99999999999999999999", -i128::MAX),
            ("1e-99999999999999999999", 0),
        ] {
            assert_eq!(of_milliseconds(number), attoseconds, "{number}");
        }
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
            if time.is_some() || !text.starts_with("9999-12-31") {
                assert_eq!(parse(&text), time.map(Timestamp::as_millisecond), "{text}");
            }
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
