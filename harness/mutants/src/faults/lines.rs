//! Faults about lines, and about what one of them holds (`jsonrpc`; some hold for `mcp-replay` too).

use super::edit;
use super::{Fault, Seed, fault};
use transcript::json::{Json, JsonKind};

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "lines/blank-ends",
        &["JRP-LINE"],
        "stops at a blank line",
        Seed::Text(|format, text| {
            let mut lines = text.split_inclusive('\n');
            let kept: String = lines.by_ref().take_while(|line| !line.trim().is_empty()).collect();
            (by_lines(format) && kept.len() < text.len()).then_some(kept)
        }),
    ),
    fault(
        "lines/blank-rejected",
        &["JRP-LINE"],
        "rejects a blank line",
        Seed::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok()?;
            let blank = text.lines().any(|line| line.trim().is_empty());
            (asked.format.name == "jsonrpc" && blank).then(|| super::survival::rejection("invalid-json"))
        }),
    ),
    fault(
        "lines/last-needs-its-end",
        &["JRP-LINE"],
        "loses a last line that has no line end",
        Seed::Text(|format, text| {
            let kept = text.rfind('\n').map_or(0, |at| at + 1);
            (by_lines(format) && kept < text.len()).then(|| text[..kept].to_owned())
        }),
    ),
    fault(
        "lines/crlf-rejected",
        &["JRP-LINE"],
        "rejects CR before LF",
        Seed::Answer(|asked| {
            let crlf = asked.bytes.windows(2).any(|pair| pair == b"\r\n");
            (by_lines(asked.format.name) && crlf).then(|| super::survival::rejection("invalid-json"))
        }),
    ),
    fault(
        "lines/cr-ends-lines",
        &["JRP-LINE"],
        "takes a lone CR for a line end",
        Seed::Text(|format, text| {
            let lone = text.replace("\r\n", "\n").contains('\r');
            (format == "jsonrpc" && lone).then(|| text.replace("\r\n", "\n").replace('\r', "\n"))
        }),
    ),
    fault(
        "lines/unicode-ends-lines",
        &["JRP-LINE", "EQ-ARGS"],
        "takes U+2028 and the like for line ends, as str.splitlines does",
        Seed::Text(|format, text| {
            let ends = ['\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}'];
            (by_lines(format) && text.contains(ends)).then(|| text.replace(ends, "\n"))
        }),
    ),
    fault(
        "lines/stray-text-passed",
        &["JRP-LINE"],
        "passes over lines that are no JSON",
        Seed::Text(|format, text| {
            // A line that ends too early was cut off; it is rejected as such.
            skipped(format, text, |line| Json::parse(line).is_err() && !line.trim_start().starts_with('{'))
        }),
    ),
    fault(
        "lines/broken-objects-passed",
        &["JRP-LINE"],
        "passes over lines that begin like an object and are no JSON",
        Seed::Text(|format, text| {
            skipped(format, text, |line| Json::parse(line).is_err() && line.trim_start().starts_with('{'))
        }),
    ),
    fault(
        "lines/values-passed",
        &["JRP-LINE"],
        "passes over lines that are JSON and no object",
        Seed::Text(|format, text| {
            skipped(format, text, |line| {
                Json::parse(line)
                    .is_ok_and(|value| !matches!(value.kind(), JsonKind::Object | JsonKind::Array))
            })
        }),
    ),
    fault(
        "lines/null-passed",
        &["JRP-LINE"],
        "passes over a line that is null",
        Seed::Text(|format, text| skipped(format, text, |line| line.trim() == "null")),
    ),
    fault(
        "lines/empty-batch-passed",
        &["JRP-LINE"],
        "passes over an empty array",
        Seed::Text(|format, text| skipped(format, text, |line| line.trim() == "[]")),
    ),
    fault(
        "lines/batches",
        &["JRP-LINE"],
        "reads an array of messages, one after the other",
        Seed::Text(|format, text| {
            changed(format, text, &mut |line| {
                let value = Json::parse(line).ok().filter(|value| value.kind() == JsonKind::Array)?;
                let items: Vec<&str> = value.items().map(Json::text).collect();
                Some(items.join("\n"))
            })
        }),
    ),
    fault(
        "lines/first-of-several",
        &["JRP-LINE"],
        "reads the first value of a line and nothing behind it",
        Seed::Text(|format, text| {
            changed(format, text, &mut |line| {
                let mut scanner = transcript::json::Scanner::new(line);
                scanner.space();
                scanner.value().ok()?;
                (!line[scanner.at()..].trim().is_empty()).then(|| line[..scanner.at()].to_owned())
            })
        }),
    ),
    fault(
        "lines/several-on-one",
        &["JRP-LINE"],
        "reads several values on one line",
        Seed::Text(|format, text| {
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
    fault(
        "lines/one-over-several",
        &["JRP-LINE"],
        "reads a message that stands on several lines",
        Seed::Text(|format, text| {
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
    fault(
        "lines/content-length",
        &["JRP-LINE"],
        "passes over the headers of another framing",
        Seed::Text(|format, text| skipped(format, text, |line| line.starts_with("Content-Length"))),
    ),
    fault(
        "lines/comments",
        &["JRP-LINE"],
        "passes over comments",
        Seed::Text(|format, text| {
            skipped(format, text, |line| {
                line.trim_start().starts_with("//") || line.trim_start().starts_with('#')
            })
        }),
    ),
    fault(
        "lines/trailing-commas",
        &["JRP-LINE"],
        "lets a comma stand before a closing bracket",
        Seed::Text(|format, text| {
            changed(format, text, &mut |line| {
                let new = line.replace(",}", "}").replace(",]", "]").trim_end_matches(',').to_owned();
                (Json::parse(line).is_err() && Json::parse(&new).is_ok()).then_some(new)
            })
        }),
    ),
    fault(
        "lines/javascript-words",
        &["JRP-LINE"],
        "reads NaN and Infinity as null",
        Seed::Text(|format, text| {
            repaired(format, text, |line| {
                line.replace("-Infinity", "null").replace("Infinity", "null").replace("NaN", "null")
            })
        }),
    ),
    fault(
        "lines/python-words",
        &["JRP-LINE"],
        "reads True, False and None",
        Seed::Text(|format, text| {
            repaired(format, text, |line| {
                line.replace("True", "true").replace("False", "false").replace("None", "null")
            })
        }),
    ),
    fault(
        "lines/single-quotes",
        &["JRP-LINE"],
        "reads strings in single quotes",
        Seed::Text(|format, text| repaired(format, text, |line| line.replace('\'', "\""))),
    ),
    fault(
        "lines/raw-tabs",
        &["JRP-LINE"],
        "lets a tab stand in a string",
        Seed::Text(|format, text| repaired(format, text, |line| line.replace('\t', "\\t"))),
    ),
    fault(
        "lines/leading-zeros",
        &["JRP-LINE"],
        "reads numbers with a zero or a plus in front",
        Seed::Text(|format, text| {
            repaired(format, text, |line| {
                let mut new = line.to_owned();
                for lead in [":0", ":+", ": 0", ": +"] {
                    new = new.replace(lead, ":");
                }
                new
            })
        }),
    ),
    fault(
        "lines/hexadecimal",
        &["JRP-LINE"],
        "reads hexadecimal numbers",
        Seed::Text(|format, text| {
            repaired(format, text, |line| {
                let Some((before, rest)) = line.split_once("0x") else { return line.to_owned() };
                let digits: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
                let number = u64::from_str_radix(&digits, 16).unwrap_or_default();
                format!("{before}{number}{}", &rest[digits.len()..])
            })
        }),
    ),
    fault(
        "lines/traces-sniffed",
        &["JRP-VERSION", "JRP-LINE"],
        "reads the `raw` of a line that has one, since a trace is made of lines too",
        Seed::Text(|format, text| {
            let trace = text.contains("\"raw\"");
            changed(format, text, &mut |line| {
                let object =
                    Json::parse(line).ok().filter(|line| trace && line.member("jsonrpc").is_none())?;
                Some(object.member("raw").map_or_else(String::new, |raw| raw.text().to_owned()))
            })
        }),
    ),
    fault(
        "lines/bare-points",
        &["JRP-LINE"],
        "reads `1.` and `.5`",
        Seed::Text(|format, text| {
            repaired(format, text, |line| {
                line.replace(".}", ".0}").replace(".,", ".0,").replace(":.", ":0.").replace(": .", ":0.")
            })
        }),
    ),
    fault(
        "lines/odd-escapes",
        &["JRP-LINE"],
        "takes an unknown escape for the letter behind it",
        Seed::Text(|format, text| {
            repaired(format, text, |line| {
                let mut new = line.to_owned();
                for letter in ["x", "a", "q", "e", "v", "'", "d", "w", "."] {
                    new = new.replace(&format!("\\{letter}"), letter);
                }
                new
            })
        }),
    ),
    fault(
        "lines/mark-rejected",
        &["SRV-TWICE"],
        "rejects a byte order mark, in lines alone",
        Seed::Answer(|asked| {
            (asked.format.name == "jsonrpc" && asked.bytes.starts_with(b"\xef\xbb\xbf"))
                .then(|| super::survival::rejection("invalid-json"))
        }),
    ),
    fault(
        "lines/first-line-lost-to-a-mark",
        &["SRV-TWICE"],
        "loses the line that a byte order mark stands in",
        Seed::Bytes(|format, bytes| {
            let marked = by_lines(format) && bytes.starts_with(b"\xef\xbb\xbf");
            let end = bytes.iter().position(|&byte| byte == b'\n')?;
            marked.then(|| bytes[end + 1..].to_vec())
        }),
    ),
    fault(
        "lines/unicode-space",
        &["JRP-LINE"],
        "strips whatever Unicode calls a space from a line",
        Seed::Text(|format, text| {
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
