//! Faults about lines, and about what one of them holds (`jsonrpc`; some hold for `mcp-replay` too).

use super::edit;
use super::{Mutant, Mutation, mutant};
use transcript::json::{Json, JsonKind};

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "lines/blank-ends",
        &["JRP-LINE"],
        "stops at a blank line",
        Mutation::Text(|format, text| {
            let mut lines = text.split_inclusive('\n');
            let kept: String = lines.by_ref().take_while(|line| !line.trim().is_empty()).collect();
            (by_lines(format) && kept.len() < text.len()).then_some(kept)
        }),
    ),
    mutant(
        "lines/blank-rejected",
        &["JRP-LINE"],
        "rejects a blank line",
        Mutation::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok()?;
            let blank = text.lines().any(|line| line.trim().is_empty());
            (asked.format.name == "jsonrpc" && blank).then(|| super::survival::rejection("invalid-json"))
        }),
    ),
    mutant(
        "lines/last-needs-its-end",
        &["JRP-LINE"],
        "loses a last line that has no line end",
        Mutation::Text(|format, text| {
            let kept = text.rfind('\n').map_or(0, |at| at + 1);
            (by_lines(format) && kept < text.len()).then(|| text[..kept].to_owned())
        }),
    ),
    mutant(
        "lines/crlf-rejected",
        &["JRP-LINE"],
        "rejects CR before LF",
        Mutation::Answer(|asked| {
            let crlf = asked.bytes.windows(2).any(|pair| pair == b"\r\n");
            (by_lines(asked.format.name) && crlf).then(|| super::survival::rejection("invalid-json"))
        }),
    ),
    mutant(
        "lines/cr-ends-lines",
        &["JRP-LINE"],
        "takes a lone CR for a line end",
        Mutation::Text(|format, text| {
            let lone = text.replace("\r\n", "\n").contains('\r');
            (format == "jsonrpc" && lone).then(|| text.replace("\r\n", "\n").replace('\r', "\n"))
        }),
    ),
    mutant(
        "lines/unicode-ends-lines",
        &["JRP-LINE", "EQ-ARGS"],
        "takes U+2028 and the like for line ends, as str.splitlines does",
        Mutation::Text(|format, text| {
            let ends = ['\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}'];
            (by_lines(format) && text.contains(ends)).then(|| text.replace(ends, "\n"))
        }),
    ),
    mutant(
        "lines/stray-text-passed",
        &["JRP-LINE"],
        "passes over lines that are no JSON",
        Mutation::Text(|format, text| {
            // A line that ends too early was cut off; it is rejected as such.
            skipped(format, text, |line| Json::parse(line).is_err() && !line.trim_start().starts_with('{'))
        }),
    ),
    mutant(
        "lines/broken-objects-passed",
        &["JRP-LINE"],
        "passes over lines that begin like an object and are no JSON",
        Mutation::Text(|format, text| {
            skipped(format, text, |line| Json::parse(line).is_err() && line.trim_start().starts_with('{'))
        }),
    ),
    mutant(
        "lines/values-passed",
        &["JRP-LINE"],
        "passes over lines that are JSON and no object",
        Mutation::Text(|format, text| {
            skipped(format, text, |line| {
                Json::parse(line)
                    .is_ok_and(|value| !matches!(value.kind(), JsonKind::Object | JsonKind::Array))
            })
        }),
    ),
    mutant(
        "lines/null-passed",
        &["JRP-LINE"],
        "passes over a line that is null",
        Mutation::Text(|format, text| skipped(format, text, |line| line.trim() == "null")),
    ),
    mutant(
        "lines/empty-batch-passed",
        &["JRP-LINE"],
        "passes over an empty array",
        Mutation::Text(|format, text| skipped(format, text, |line| line.trim() == "[]")),
    ),
    mutant(
        "lines/batches",
        &["JRP-LINE"],
        "reads an array of messages, one after the other",
        Mutation::Text(|format, text| {
            changed(format, text, &mut |line| {
                let value = Json::parse(line).ok().filter(|value| value.kind() == JsonKind::Array)?;
                let items: Vec<&str> = value.items().map(Json::text).collect();
                Some(items.join("\n"))
            })
        }),
    ),
    mutant(
        "lines/first-of-several",
        &["JRP-LINE"],
        "reads the first value of a line and nothing behind it",
        Mutation::Text(|format, text| {
            changed(format, text, &mut |line| {
                let mut scanner = transcript::json::Scanner::new(line);
                scanner.space();
                scanner.value().ok()?;
                (!line[scanner.at()..].trim().is_empty()).then(|| line[..scanner.at()].to_owned())
            })
        }),
    ),
    mutant(
        "lines/several-on-one",
        &["JRP-LINE"],
        "reads several values on one line",
        Mutation::Text(|format, text| {
            changed(format, text, &mut |line| {
                let mut scanner = transcript::json::Scanner::new(line);
                let mut values = Vec::new();
                while !line[scanner.at()..].trim().is_empty() {
                    scanner.space();
                    values.push(scanner.take().ok()?.text());
                }
                (values.len() > 1).then(|| values.join("\n"))
            })
        }),
    ),
    mutant(
        "lines/one-over-several",
        &["JRP-LINE"],
        "reads a message that stands on several lines",
        Mutation::Text(|format, text| {
            let mut scanner = transcript::json::Scanner::new(text);
            let mut found = Vec::new();
            loop {
                scanner.space();
                if scanner.peek().is_none() {
                    break;
                }
                let value = scanner.take().ok()?;
                found.push(value.text().replace(['\n', '\r'], " "));
            }
            let spread = found.len() < text.lines().filter(|line| !line.trim().is_empty()).count();
            (format == "jsonrpc" && spread).then(|| found.join("\n"))
        }),
    ),
    mutant(
        "lines/content-length",
        &["JRP-LINE"],
        "passes over the headers of another framing",
        Mutation::Text(|format, text| skipped(format, text, |line| line.starts_with("Content-Length"))),
    ),
    mutant(
        "lines/comments",
        &["JRP-LINE"],
        "passes over comments",
        Mutation::Text(|format, text| {
            skipped(format, text, |line| {
                line.trim_start().starts_with("//") || line.trim_start().starts_with('#')
            })
        }),
    ),
    mutant(
        "lines/trailing-commas",
        &["JRP-LINE"],
        "lets a comma stand before a closing bracket",
        Mutation::Text(|format, text| {
            changed(format, text, &mut |line| {
                let new = line.replace(",}", "}").replace(",]", "]").trim_end_matches(',').to_owned();
                (Json::parse(line).is_err() && Json::parse(&new).is_ok()).then_some(new)
            })
        }),
    ),
    mutant(
        "lines/javascript-words",
        &["JRP-LINE"],
        "reads NaN and Infinity as null",
        Mutation::Text(|format, text| {
            repaired(format, text, |line| {
                line.replace("-Infinity", "null").replace("Infinity", "null").replace("NaN", "null")
            })
        }),
    ),
    mutant(
        "lines/python-words",
        &["JRP-LINE"],
        "reads True, False and None",
        Mutation::Text(|format, text| {
            repaired(format, text, |line| {
                line.replace("True", "true").replace("False", "false").replace("None", "null")
            })
        }),
    ),
    mutant(
        "lines/single-quotes",
        &["JRP-LINE"],
        "reads strings in single quotes",
        Mutation::Text(|format, text| repaired(format, text, |line| line.replace('\'', "\""))),
    ),
    mutant(
        "lines/raw-tabs",
        &["JRP-LINE"],
        "lets a tab stand in a string",
        Mutation::Text(|format, text| repaired(format, text, |line| line.replace('\t', "\\t"))),
    ),
    mutant(
        "lines/leading-zeros",
        &["JRP-LINE"],
        "reads numbers with a zero or a plus in front",
        Mutation::Text(|format, text| {
            repaired(format, text, |line| {
                let mut new = line.to_owned();
                for lead in [":0", ":+", ": 0", ": +"] {
                    new = new.replace(lead, ":");
                }
                new
            })
        }),
    ),
    mutant(
        "lines/hexadecimal",
        &["JRP-LINE"],
        "reads hexadecimal numbers",
        Mutation::Text(|format, text| {
            repaired(format, text, |line| {
                let Some((before, rest)) = line.split_once("0x") else { return line.to_owned() };
                let digits: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
                let number = u64::from_str_radix(&digits, 16).unwrap_or_default();
                format!("{before}{number}{}", &rest[digits.len()..])
            })
        }),
    ),
    mutant(
        "lines/traces-sniffed",
        &["JRP-VERSION", "JRP-LINE"],
        "reads the `raw` of a line that has one, since a trace is made of lines too",
        Mutation::Text(|format, text| {
            let trace = text.contains("\"raw\"");
            changed(format, text, &mut |line| {
                let object =
                    Json::parse(line).ok().filter(|line| trace && line.member("jsonrpc").is_none())?;
                Some(object.member("raw").map_or_else(String::new, |raw| raw.text().to_owned()))
            })
        }),
    ),
    mutant(
        "lines/bare-points",
        &["JRP-LINE"],
        "reads `1.` and `.5`",
        Mutation::Text(|format, text| {
            repaired(format, text, |line| {
                line.replace(".}", ".0}").replace(".,", ".0,").replace(":.", ":0.").replace(": .", ":0.")
            })
        }),
    ),
    mutant(
        "lines/odd-escapes",
        &["JRP-LINE"],
        "takes an unknown escape for the letter behind it",
        Mutation::Text(|format, text| {
            repaired(format, text, |line| {
                let mut new = line.to_owned();
                for letter in ["x", "a", "q", "e", "v", "'", "d", "w", "."] {
                    new = new.replace(&format!("\\{letter}"), letter);
                }
                new
            })
        }),
    ),
    mutant(
        "lines/mark-rejected",
        &["SRV-TWICE"],
        "rejects a byte order mark, in lines alone",
        Mutation::Answer(|asked| {
            (asked.format.name == "jsonrpc" && asked.bytes.starts_with(b"\xef\xbb\xbf"))
                .then(|| super::survival::rejection("invalid-json"))
        }),
    ),
    mutant(
        "lines/first-line-lost-to-a-mark",
        &["SRV-TWICE"],
        "loses the line that a byte order mark stands in",
        Mutation::Bytes(|format, bytes| {
            let marked = by_lines(format) && bytes.starts_with(b"\xef\xbb\xbf");
            let end = bytes.iter().position(|&byte| byte == b'\n')?;
            marked.then(|| bytes[end + 1..].to_vec())
        }),
    ),
    mutant(
        "lines/unicode-space",
        &["JRP-LINE"],
        "strips whatever Unicode calls a space from a line",
        Mutation::Text(|format, text| {
            changed(format, text, &mut |line| {
                let stripped = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
                (stripped.len() != line.trim_matches([' ', '\t', '\r']).len()).then(|| stripped.to_owned())
            })
        }),
    ),
];

fn by_lines(format: &str) -> bool {
    matches!(format, "jsonrpc" | "mcp-replay")
}

fn changed(format: &str, text: &str, edit: &mut dyn FnMut(&str) -> Option<String>) -> Option<String> {
    if format == "jsonrpc" { edit::lines(text, edit) } else { None }
}

fn skipped(format: &str, text: &str, skip: impl Fn(&str) -> bool) -> Option<String> {
    changed(format, text, &mut |line| (!line.trim().is_empty() && skip(line)).then(String::new))
}

/// Lines that are no JSON, where a repair makes them some.
fn repaired(format: &str, text: &str, repair: impl Fn(&str) -> String) -> Option<String> {
    changed(format, text, &mut |line| {
        let new = repair(line);
        (Json::parse(line).is_err() && Json::parse(&new).is_ok()).then_some(new)
    })
}
