//! What PyYAML makes of a plain scalar: the rules of YAML 1.1, as it has them.

/// What a plain scalar is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plain<'a> {
    /// Text.
    Text,
    /// `null`, a truth value or a number, as JSON spells it.
    Json(&'a str),
    /// Something that JSON has not: what.
    Other(&'static str),
}

impl<'a> Plain<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return Self::Json("null"),
            "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
                return Self::Json("true");
            }
            "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
                return Self::Json("false");
            }
            "=" | "<<" => return Self::Other("an indicator"),
            _ => {}
        }
        let body = text.strip_prefix(['-', '+']).unwrap_or(text);
        match () {
            () if is_integer(body) || is_fraction(body) => Self::Json(text.strip_prefix('+').unwrap_or(text)),
            // PyYAML takes no sign before a dot.
            () if is_other_integer(body)
                || is_other_float(if body.starts_with('.') { text } else { body }) =>
            {
                Self::Other("a number of YAML 1.1 that JSON spells otherwise")
            }
            () if is_time(text) => Self::Other("a time"),
            () => Self::Text,
        }
    }
}

fn digits(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_digit())
}

/// `0`, or digits without a zero before them.
fn is_integer(text: &str) -> bool {
    !text.is_empty() && digits(text).is_empty() && (text == "0" || !text.starts_with('0'))
}

/// Of JSON and of PyYAML: an exponent has a sign, and a dot is before it.
fn is_fraction(text: &str) -> bool {
    let Some((whole, rest)) = text.split_once('.') else { return false };
    let behind = digits(rest);
    is_integer(whole) && behind.len() < rest.len() && (behind.is_empty() || is_exponent(behind))
}

fn is_exponent(text: &str) -> bool {
    let power = text.strip_prefix(['e', 'E']).and_then(|text| text.strip_prefix(['-', '+']));
    power.is_some_and(|power| !power.is_empty() && digits(power).is_empty())
}

fn is_of(text: &str, allowed: fn(char) -> bool) -> bool {
    !text.is_empty() && text.chars().all(|c| c == '_' || allowed(c))
}

/// In base 2, 8, 16 or 60, or with underscores.
fn is_other_integer(text: &str) -> bool {
    let decimal =
        |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && is_of(text, |c| c.is_ascii_digit());
    match text.split_once(':') {
        Some((first, rest)) => decimal(first) && !first.starts_with('0') && rest.split(':').all(is_sixtieth),
        None => match (text.strip_prefix("0b"), text.strip_prefix("0x"), text.strip_prefix('0')) {
            (Some(rest), ..) => is_of(rest, |c| matches!(c, '0' | '1')),
            (_, Some(rest), _) => is_of(rest, |c| c.is_ascii_hexdigit()),
            (_, _, Some(rest)) => is_of(rest, |c| matches!(c, '0'..='7')),
            _ => decimal(text),
        },
    }
}

fn is_sixtieth(text: &str) -> bool {
    matches!(text.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9'])
}

/// Without digits on one side of the dot, in base 60, with underscores, or no number at all.
fn is_other_float(text: &str) -> bool {
    if matches!(text.trim_start_matches(['-', '+']), ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let Some((whole, rest)) = text.split_once('.') else { return false };
    let fraction = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
    let ends = fraction.is_empty() || is_exponent(fraction);
    let first = whole.split(':').next().unwrap_or_default();
    let counts =
        |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && is_of(text, |c| c.is_ascii_digit());
    match whole {
        "" => ends && rest.starts_with(|c: char| c.is_ascii_digit()),
        _ if whole.contains(':') => {
            fraction.is_empty() && counts(first) && whole.split(':').skip(1).all(is_sixtieth)
        }
        _ => ends && counts(whole),
    }
}

/// A day, or a day and a time of it.
fn is_time(text: &str) -> bool {
    let mut day = text.get(..4).filter(|year| digits(year).is_empty()).map_or("", |_| &text[4..]);
    let mut lengths = [0; 2];
    for length in &mut lengths {
        let Some(rest) = day.strip_prefix('-') else { return false };
        *length = rest.len() - digits(rest).len();
        day = digits(rest);
    }
    let hours = day.trim_start_matches(['T', 't', ' ', '\t']);
    match (lengths, day) {
        ([2, 2], "") => true,
        ([1..=2, 1..=2], _) if hours.len() < day.len() => {
            let parts: Vec<&str> = hours.splitn(3, ':').collect();
            let of = |at: usize, least: usize| {
                parts.get(at).is_some_and(|part| {
                    let count = part.len() - digits(part).len();
                    (least..=2).contains(&count) && (at == 2 || digits(part).is_empty())
                })
            };
            of(0, 1) && of(1, 2) && of(2, 2)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::Plain;

    /// What PyYAML 6.0 makes of each was asked of it.
    #[test]
    fn a_plain_scalar_is_what_pyyaml_makes_of_it() {
        for text in [
            "1.0.0",
            "1e5",
            "1E5",
            "1.5e5",
            "--1",
            "+",
            "-",
            ".",
            "..",
            "nO",
            "n",
            "y",
            "0x",
            "08",
            "09.x",
            "1:99",
            "1:2x",
            "c2s",
            "2026-11",
            "2026-1-2",
            "2026-11-23x",
            "2026-11-23T12",
            "2026-11-23T12:00",
            "_1",
            "0b2",
            "é",
            "12:30:",
            "-.5",
        ] {
            assert_eq!(Plain::of(text), Plain::Text, "{text}");
        }
        for (text, json) in [
            ("", "null"),
            ("~", "null"),
            ("NULL", "null"),
            ("on", "true"),
            ("No", "false"),
            ("0", "0"),
            ("-0", "-0"),
            ("+12", "12"),
            ("-9007199254740993", "-9007199254740993"),
            ("0.1", "0.1"),
            ("1.0e+20", "1.0e+20"),
            ("-1.5E-7", "-1.5E-7"),
        ] {
            assert_eq!(Plain::of(text), Plain::Json(json), "{text}");
        }
        for text in [
            "0x1F",
            "-0b11",
            "017",
            "1_000",
            "1:30",
            "190:20:30",
            "1.",
            "1_0.5",
            ".5",
            ".5e+3",
            "-.inf",
            ".NaN",
            "00.5",
            "190:20:30.15",
            "2026-11-23",
            "2026-1-2T1:00:00",
            "2026-11-23 12:00:00.5 +01:00",
            "=",
            "<<",
        ] {
            assert!(matches!(Plain::of(text), Plain::Other(_)), "{text}");
        }
    }
}
