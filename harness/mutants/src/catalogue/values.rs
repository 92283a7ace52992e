//! Faults about numbers and strings that do not survive a careless JSON library.

use super::edit::quoted;
use super::{Mutant, Mutation, mutant};
use transcript::json::{Json, JsonKind};

/// Whatever a message carries.
pub(super) const ALL: &[&str] = &["tool", "arguments", "params", "result", "error"];
pub(super) const ARGUMENTS: &[&str] = &["arguments"];
pub(super) const OUTCOME: &[&str] = &["result", "error"];

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "values/doubles-in-arguments",
        &["EQ-ARGS"],
        "puts the numbers of arguments through a double",
        Mutation::Value(ARGUMENTS, |value| numbers(value, double)),
    ),
    mutant(
        "values/doubles-in-results",
        &["EQ-OUTCOME"],
        "puts the numbers of results and errors through a double",
        Mutation::Value(OUTCOME, |value| numbers(value, double)),
    ),
    mutant(
        "values/singles",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "puts numbers through a 32-bit float",
        Mutation::Value(ALL, |value| {
            numbers(value, |text| {
                let single = text.parse::<f32>().ok().filter(|single| single.is_finite())?;
                let exact = text.parse::<f64>().ok()?;
                (f64::from(single) != exact).then(|| f64::from(single).to_string())
            })
        }),
    ),
    mutant(
        "values/truncated",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "drops what stands behind the point",
        Mutation::Value(ALL, |value| {
            numbers(value, |text| text.split_once('.').map(|(whole, _)| whole.to_owned()))
        }),
    ),
    mutant(
        "values/huge-is-null",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "writes null for a number that a double cannot hold",
        Mutation::Value(ALL, |value| {
            numbers(value, |text| {
                text.parse::<f64>().ok().filter(|number| number.is_infinite()).map(|_| "null".to_owned())
            })
        }),
    ),
    mutant(
        "values/tiny-is-zero",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "writes 0 for a number that is too small for a double",
        Mutation::Value(ALL, |value| {
            numbers(value, |text| {
                let nothing = text.parse::<f64>().ok()? == 0.0;
                let some = text.split(['e', 'E']).next()?.contains(|c: char| matches!(c, '1'..='9'));
                (nothing && some).then(|| "0".to_owned())
            })
        }),
    ),
    mutant(
        "values/numbers-as-text",
        &["EQ-ARGS"],
        "writes numbers in arguments as strings",
        Mutation::Value(ARGUMENTS, |value| numbers(value, |text| Some(format!("\"{text}\"")))),
    ),
    mutant(
        "values/big-numbers-as-text",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "writes numbers of more than 15 digits as strings",
        Mutation::Value(ALL, |value| {
            numbers(value, |text| {
                (text.bytes().filter(u8::is_ascii_digit).count() > 15).then(|| format!("\"{text}\""))
            })
        }),
    ),
    mutant(
        "values/digits-are-numbers",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "reads strings of digits as numbers",
        Mutation::Value(ALL, |value| {
            tokens(value, |token| {
                let inside = token.strip_prefix('"')?.strip_suffix('"')?;
                inside.parse::<u64>().ok().map(|number| number.to_string())
            })
        }),
    ),
    mutant(
        "values/composed",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "composes accents in strings (NFC)",
        Mutation::Value(ALL, |value| strings(value, |text| text.replace("e\u{301}", "é"))),
    ),
    mutant(
        "values/trimmed",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "trims strings",
        Mutation::Value(ALL, |value| strings(value, |text| text.trim().to_owned())),
    ),
    mutant(
        "values/line-ends",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "writes LF for CRLF in strings",
        Mutation::Value(ALL, |value| strings(value, |text| text.replace("\r\n", "\n"))),
    ),
    mutant(
        "values/separators",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "writes LF for U+2028 and U+2029",
        Mutation::Value(ALL, |value| strings(value, |text| text.replace(['\u{2028}', '\u{2029}'], "\n"))),
    ),
    mutant(
        "values/no-controls",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "drops control characters other than line ends and tabs",
        Mutation::Value(ALL, |value| {
            strings(value, |text| {
                text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t')).collect()
            })
        }),
    ),
    mutant(
        "values/c-strings",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "ends a string at a NUL",
        Mutation::Value(ALL, |value| {
            strings(value, |text| text.split('\0').next().unwrap_or_default().into())
        }),
    ),
    mutant(
        "values/no-bidi",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "drops characters that change the direction of text",
        Mutation::Value(ALL, |value| {
            strings(value, |text| {
                text.replace(|c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'), "")
            })
        }),
    ),
    mutant(
        "values/basic-plane",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "puts a question mark for a character beyond the basic plane",
        Mutation::Value(ALL, |value| strings(value, |text| text.replace(|c| c > '\u{ffff}', "?"))),
    ),
    mutant(
        "values/surrogates-replaced",
        &["SRV-TWICE"],
        "puts U+FFFD for a lone surrogate in some formats, and keeps it in lines",
        Mutation::Answer(|asked| {
            use verdict::answer::Answer;
            let Answer::Meaning(meaning) = &asked.answer else { return None };
            let text = meaning.text();
            let new = text.replace("\\ud83d", "\u{fffd}");
            (asked.format.name != "jsonrpc" && new != text)
                .then(|| Answer::Meaning(verdict::meaning::Meaning::written(new)))
        }),
    ),
    mutant(
        "values/noncharacters-replaced",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "puts U+FFFD for noncharacters such as U+FFFE",
        Mutation::Value(ALL, |value| {
            strings(value, |text| {
                text.replace(
                    |c| u32::from(c) & 0xfffe == 0xfffe || ('\u{fdd0}'..='\u{fdef}').contains(&c),
                    "\u{fffd}",
                )
            })
        }),
    ),
    mutant(
        "values/cut-strings",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "keeps the first 32 KiB of a string",
        Mutation::Value(ALL, |value| strings(value, |text| text.chars().take(32_768).collect())),
    ),
    mutant(
        "values/escaped-html",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "escapes strings for HTML",
        Mutation::Value(ALL, |value| {
            strings(value, |text| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"))
        }),
    ),
    mutant(
        "values/unpacked-json",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "reads a string that holds a JSON object as the object",
        Mutation::Value(ALL, |value| {
            tokens(value, |token| {
                let inside = super::edit::content(Json::parse(token).ok()?)?;
                let object = Json::parse(&inside).ok().filter(|value| value.kind() == JsonKind::Object)?;
                Some(object.text().to_owned())
            })
        }),
    ),
    mutant(
        "values/html-unescaped",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "reads HTML entities in strings",
        Mutation::Value(ALL, |value| {
            strings(value, |text| text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
        }),
    ),
];

/// A value with other tokens (numbers, strings with their quotes, words); names of members stay.
fn tokens(value: Json<'_>, edit: impl Fn(&str) -> Option<String>) -> Option<String> {
    let text = value.text();
    let bytes = text.as_bytes();
    let (mut out, mut at, mut changed) = (String::with_capacity(text.len()), 0, false);
    while at < bytes.len() {
        let start = at;
        at += 1;
        match bytes[start] {
            b'"' => {
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            byte if byte.is_ascii_alphanumeric() || byte == b'-' => {
                while at < bytes.len()
                    && !matches!(bytes[at], b',' | b'}' | b']' | b':' | b' ' | b'\n' | b'\r' | b'\t')
                {
                    at += 1;
                }
            }
            byte => {
                out.push(char::from(byte));
                continue;
            }
        }
        let token = &text[start..at.min(text.len())];
        let name = text[at.min(text.len())..].trim_start().starts_with(':');
        match edit(token).filter(|_| !name) {
            Some(new) => {
                changed = true;
                out.push_str(&new);
            }
            None => out.push_str(token),
        }
    }
    changed.then_some(out)
}

fn numbers(value: Json<'_>, edit: impl Fn(&str) -> Option<String>) -> Option<String> {
    tokens(value, |token| token.starts_with(|c: char| c == '-' || c.is_ascii_digit()).then(|| edit(token))?)
}

/// A value whose numbers went through a double.
pub(super) fn rounded(value: Json<'_>) -> Option<String> {
    numbers(value, double)
}

pub(super) fn strings(value: Json<'_>, edit: impl Fn(&str) -> String) -> Option<String> {
    tokens(value, |token| {
        let text = super::edit::content(Json::parse(token).ok()?)?;
        let new = edit(&text);
        (new != text).then(|| quoted(&new))
    })
}

/// A number as a double prints it, where that is another number; what no double holds stays.
fn double(text: &str) -> Option<String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite())?;
    let printed = format!("{number:?}");
    (!transcript::json::same_number(&printed, text)).then_some(printed)
}
