//! Numbers, compared by the decimal they denote and never through a float.

/// Whether two JSON number texts denote the same decimal number: `1`, `1.0` and `1e0` do,
/// `9007199254740993` and `9007199254740992` do not; the sign of zero is not part of its value.
#[must_use]
pub fn same_number(a: &str, b: &str) -> bool {
    a == b || Decimal::new(a) == Decimal::new(b)
}

/// Appends a number in one spelling for all that denote it.
pub(crate) fn write_number(text: &str, out: &mut Vec<u8>) {
    let Decimal { negative, digits, exponent } = Decimal::new(text);
    out.push(if negative { b'-' } else { b'+' });
    out.extend_from_slice(&digits);
    match exponent {
        Exponent::Known(value) => out.extend_from_slice(format!("e{value};").as_bytes()),
        Exponent::Huge(text, shift) => out.extend_from_slice(format!("h{text},{shift};").as_bytes()),
    }
}

/// `0.d₁d₂d₃… × 10^exponent`, with neither leading nor trailing zeros: one form for each number.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: Exponent,
}

#[derive(PartialEq, Eq)]
enum Exponent {
    Known(i128),
    /// More digits than any exponent with a meaning has: kept as its text and what the mantissa adds to it.
    Huge(String, i128),
}

impl Decimal {
    fn new(text: &str) -> Self {
        let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = unsigned
            .split_once(['e', 'E'])
            .map_or((unsigned, "0"), |(mantissa, exponent)| (mantissa, exponent));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let leading = digits.iter().take_while(|&&digit| digit == b'0').count();
        digits.drain(..leading);
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        if digits.is_empty() {
            return Self { negative: false, digits, exponent: Exponent::Known(0) };
        }
        let shift = whole.len() as i128 - leading as i128;
        let exponent = exponent.strip_prefix('+').unwrap_or(exponent);
        let exponent = match exponent.parse::<i128>().ok().and_then(|value| value.checked_add(shift)) {
            Some(value) => Exponent::Known(value),
            None => Exponent::Huge(exponent.to_owned(), shift),
        };
        Self { negative, digits, exponent }
    }
}

#[cfg(test)]
mod tests {
    use super::{same_number, write_number};

    fn spelled(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        write_number(text, &mut out);
        out
    }

    #[test]
    fn spellings_of_one_number_agree() {
        for (a, b) in [
            ("1", "1.0"),
            ("1", "1e0"),
            ("10e-1", "1"),
            ("1E5", "1e+5"),
            ("100000", "1E5"),
            ("0.001", "1e-3"),
            ("-0.0", "0"),
            ("0e999", "0"),
            ("123.4500", "0.12345e3"),
            ("1e400", "10e399"),
            ("1e99999999999999999999999999", "10e99999999999999999999999998"),
        ] {
            assert!(same_number(a, b), "{a} {b}");
            assert_eq!(spelled(a), spelled(b), "{a} {b}");
        }
    }

    #[test]
    fn different_numbers_differ() {
        for (a, b) in [
            ("9007199254740993", "9007199254740992"),
            ("1", "-1"),
            ("1", "10"),
            ("1e400", "1e401"),
            ("0.1", "0.10000000000000001"),
            ("12345678901234567890", "12345678901234567891"),
            ("1e-400", "0"),
        ] {
            assert!(!same_number(a, b), "{a} {b}");
            assert_ne!(spelled(a), spelled(b), "{a} {b}");
        }
    }
}
