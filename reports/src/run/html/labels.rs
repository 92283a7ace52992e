//! The words that pages have in common: names, tones and anchors.

use crate::encoding::percent;
pub(super) use crate::plain::{cut, plain};
use verdict::record::{Record, Suite};
use verdict::verdict::Verdict;

/// Messages longer than this are cut, in characters.
pub(crate) const WIDTH: usize = 2000;

/// What an implementation is called.
pub(super) fn name(record: &Record) -> String {
    plain(&record.title())
}

/// A suite, in words that are safe to show.
pub(super) fn suite(suite: &Suite) -> Suite {
    let Suite { version, digest, contract, seed } = suite;
    Suite { version: plain(version), digest: plain(digest), contract: plain(contract), seed: *seed }
}

/// The part of a case's name before its last part.
pub(super) fn topic(case: &str) -> String {
    plain(case.rsplit_once('/').map_or("-", |(topic, _)| topic))
}

/// The lines of a stranger's text, each without power over the page.
pub(super) fn in_lines(text: &str) -> String {
    super::text_diff::cut(text).lines().map(plain).collect::<Vec<_>>().join("\n")
}

/// How a verdict is to be taken, as the style sheet knows it.
pub(super) fn tone(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "good",
        Verdict::Skip => "faint",
        Verdict::ExpectedFail => "known",
        _ => "bad",
    }
}

/// One digit for a verdict: its place in [`Verdict::ALL`].
pub(super) fn code(verdict: Verdict) -> char {
    let place = Verdict::ALL.iter().position(|one| *one == verdict).unwrap_or_default();
    char::from_digit(u32::try_from(place).unwrap_or_default(), 10).unwrap_or('-')
}

/// The place of a case, or of one of its readings, in a page: letters that need no escaping, whatever it is called.
pub(super) fn anchor(case: &str, format: Option<&str>) -> String {
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'/');
    let safe = |text: &str| hexadecimal(text, plain).replace('/', ".");
    // No name of a case comes out with this sign, so that a reading is never taken for another case.
    let format = format.map(|format| format!("~{}", safe(format))).unwrap_or_default();
    format!("f-{}{format}", safe(case))
}

/// A clause's or a rule's id as an anchor.
pub(crate) fn named(kind: &str, id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    format!("{kind}-{}", hexadecimal(id, plain))
}

/// A text whose bytes are in hexadecimal, but for the plain ones.
fn hexadecimal(text: &str, plain: impl Fn(u8) -> bool) -> String {
    let byte = |byte| if plain(byte) { char::from(byte).to_string() } else { format!("_{byte:02x}") };
    text.bytes().map(byte).collect()
}

/// A text as part of a URL's query or hash.
pub(super) fn encoded(text: &str) -> String {
    percent(text, b"-._")
}

#[cfg(test)]
mod tests {
    use super::{anchor, code};
    use std::collections::BTreeSet;
    use verdict::verdict::Verdict;

    #[test]
    fn anchors_are_plain_and_of_one_case_alone() {
        assert_eq!(anchor("ids/null-id", None), "f-ids.null-id");
        assert_eq!(anchor("ids/null-id", Some("har")), "f-ids.null-id~har");
        let odd = ["a/b", "a.b", "a b", "A/b", "a_b", "é", "\"><x"].map(|case| anchor(case, None));
        assert_eq!(odd.iter().collect::<BTreeSet<_>>().len(), odd.len());
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        assert!(odd.iter().all(|anchor| anchor.chars().all(plain)), "{odd:?}");
    }

    #[test]
    fn every_verdict_has_a_digit_of_its_own() {
        let codes: BTreeSet<char> = Verdict::ALL.into_iter().map(code).collect();
        assert_eq!(codes.len(), Verdict::ALL.len());
        assert!(codes.iter().all(char::is_ascii_digit));
    }
}
