//! Values as people write them on a command line, and words as a shell takes them.

use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use globset::{Glob, GlobMatcher};
use std::fmt::Write as _;
use std::num::{IntErrorKind, ParseIntError};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

pub(super) use verdict::plain::quoted;

/// The words that an option takes, each with what it means.
pub(super) fn words(words: &'static [(&'static str, &'static str)]) -> PossibleValuesParser {
    PossibleValuesParser::new(words.iter().map(|(word, about)| PossibleValue::new(word).help(about)))
}

/// The values that an option takes, by their words.
pub(super) fn choice<T: Copy + Send + Sync>(
    values: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(values.iter().map(|(word, _)| word)).try_map(|word| {
        let known = values.iter().find(|(name, _)| *name == word);
        known.map(|(_, value)| *value).ok_or_else(|| format!("there is no `{word}`"))
    })
}

/// A pattern over names.
pub(super) fn glob(text: &str) -> Result<GlobMatcher, String> {
    Glob::new(text).map(|glob| glob.compile_matcher()).map_err(|error| error.to_string())
}

/// A time as people write it: seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.strip_suffix('s').unwrap_or(text).trim();
    let seconds = number.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds
        .filter(|time| !time.is_zero())
        .ok_or_else(|| format!("`{text}` is not a time: write seconds, such as 10 or 0.5"))
}

/// A file to write.
pub(super) fn new_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.as_os_str() == "-" {
        true => Err("`-` is not a file; leave the option out for the standard output, or write `./-` for a file of that name"),
        false => Ok(path),
    })
}

/// A whole number, from 1 where none may be 0.
pub(super) fn whole<T: FromStr<Err = ParseIntError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::Zero => format!("`{text}` is too small: write a whole number from 1"),
        IntErrorKind::PosOverflow => format!("`{text}` is too large"),
        _ => format!("`{text}` is not a whole number"),
    })
}

/// A whole number from `LEAST` to `MOST`.
pub(super) fn within<const LEAST: u64, const MOST: u64>(text: &str) -> Result<u64, String> {
    match whole(text)? {
        number if number < LEAST => Err(format!("`{text}` is too small: write a whole number from {LEAST}")),
        number if number > MOST => Err(format!("`{text}` is too large: write a whole number up to {MOST}")),
        number => Ok(number),
    }
}

/// A size as people write it: bytes, or a number with a unit.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = match unit.trim() {
        "" | "B" => Some(1),
        "K" | "KiB" => Some(1 << 10),
        "M" | "MiB" => Some(1 << 20),
        "G" | "GiB" => Some(1 << 30),
        _ => None,
    };
    let number = number.parse::<u64>().ok();
    number
        .zip(factor)
        .and_then(|(number, factor)| number.checked_mul(factor))
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| format!("`{text}` is not a size: write a number of bytes, or a size such as 512MiB"))
}

/// A power as people write it.
pub(super) fn power(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|power: &f64| power.is_finite() && *power > 0.0)
        .ok_or_else(|| format!("`{text}` is not a power: write a number, such as 1.5"))
}

/// A case's name in lower case, which leads nowhere but down.
pub(super) fn case_name(text: &str) -> Result<String, String> {
    let plain = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    match text.split('/').all(plain) {
        true => Ok(text.to_owned()),
        false => Err("a case has a name in lower case, such as found/late-answer".to_owned()),
    }
}

/// A digest as results spell it.
pub(crate) fn spelled(digest: [u8; 32]) -> String {
    digest.iter().fold("sha256:".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::{bytes, case_name, quoted, seconds, whole, within};
    use std::num::NonZeroUsize;
    use std::time::Duration;

    #[test]
    fn times_and_sizes_are_read_as_people_write_them() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(seconds("3s"), Ok(Duration::from_secs(3)));
        assert_eq!((bytes("2GiB"), bytes("64M"), bytes("7")), (Ok(2 << 30), Ok(64 << 20), Ok(7)));
        for wrong in ["", "0", "-1", "x", "1e999"] {
            assert!(seconds(wrong).is_err() && bytes(wrong).is_err(), "{wrong}");
        }
        assert!(bytes("2GB").is_err() && bytes("99999999999GiB").is_err());
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!((whole::<u64>("0"), whole::<NonZeroUsize>("2").map(usize::from)), (Ok(0), Ok(2)));
        for (wrong, why) in [
            ("0", "from 1"),
            ("x", "not a whole"),
            ("-1", "not a whole"),
            ("9".repeat(30).as_str(), "too large"),
        ] {
            assert!(whole::<NonZeroUsize>(wrong).unwrap_err().contains(why), "{wrong}");
        }
        assert_eq!(within::<1, 9>("9"), Ok(9));
        for (wrong, why) in [("0", "from 1"), ("10", "up to 9"), ("", "not a whole"), ("many", "not a whole")]
        {
            assert!(within::<1, 9>(wrong).unwrap_err().contains(why), "{wrong}");
        }
    }

    #[test]
    fn a_case_name_leads_nowhere_but_down() {
        assert!(case_name("../x").is_err() && case_name("a//b").is_err() && case_name("found/a-1").is_ok());
    }
}
