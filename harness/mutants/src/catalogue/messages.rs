//! Mistakes about what a JSON-RPC message is, and about the lines that messages are written on.

use crate::Mutation;
use crate::json::{
    any_case, content, drop_if, has_any, has_unknown, is_array, is_null, is_object, last_wins, member,
    on_member, quoted, set, set_if, spelled, value_at,
};
use crate::on_reading::{on_reading, reject_if, reject_message};
use crate::on_text::{
    Shape, in_text, on_bytes, on_line, on_lines_text, on_message, on_shape, on_text, repair_lines,
    repair_words, skip_lines,
};
use crate::reading::{ReadEntry, ReadMessage};
use transcript::json::{Json, JsonKind, Scanner};
use transcript::message::Message;

const LINE_ENDS: [char; 5] = ['\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}'];

mutants! {
    "messages/any-version" ["JRP-VERSION"] "does not look at `jsonrpc` where it is there" => accept(|version, _| version.is_some());
    "messages/version-optional" ["JRP-VERSION"] "takes a message without `jsonrpc`" => accept(|version, _| version.is_none());
    "messages/version-as-number" ["JRP-VERSION"] "takes the number 2.0 for the version"
        => accept(|version, _| version.and_then(Json::as_number).is_some_and(|version| version.starts_with('2')));
    "messages/version-by-prefix" ["JRP-VERSION"] "takes any version that begins with 2"
        => accept(|version, _| version.and_then(content).is_some_and(|version| version.starts_with('2')));
    "messages/version-one" ["JRP-VERSION"] "takes the version 1.0 too"
        => accept(|version, _| version.and_then(content).is_some_and(|version| version == "1.0"));
    "messages/version-null" ["JRP-VERSION"] "takes a null version for a missing one, and lets it pass"
        => accept(|version, _| version.is_some_and(is_null));
    "messages/version-without-case" ["JRP-VERSION"] "finds `jsonrpc` in any case"
        => on_message(|message: Json<'_>| {
            Some(set(Json::parse(&any_case(&["jsonrpc"])(message)?).ok()?, "jsonrpc", "\"2.0\""))
        });
    "messages/version-on-answers-only" ["JRP-VERSION"] "does not look at the version of a request"
        => accept(|_, message| has_any(message, &["method"]));
    "messages/methods-printed" ["JRP-SHAPE"] "prints a method that is a number, true or false"
        => print_method(|kind| matches!(kind, JsonKind::Number | JsonKind::Bool));
    "messages/objects-for-methods" ["JRP-SHAPE"] "prints a method that is an object or an array"
        => print_method(|kind| matches!(kind, JsonKind::Object | JsonKind::Array));
    "messages/null-method-dropped" ["JRP-SHAPE"] "passes over a message whose method is null"
        => on_message(drop_if(member("method", is_null)));
    "messages/empty-method-dropped" ["EQ-COUNT" "JRP-SHAPE"] "passes over a message whose method is empty"
        => on_message(drop_if(member("method", spelled("\"\""))));
    "messages/result-wins-in-lines" ["JRP-SHAPE"] "takes the result of a message that has an error too, only in lines"
        => on_message(set_if(|it| has_any(it, &["result"]) && has_any(it, &["error"]), "error", "")).only("jsonrpc");
    "messages/null-error-is-none-in-har" ["JRP-SHAPE"] "takes a null error beside a result for none, only in HAR"
        => on_message(set_if(
            |it| has_any(it, &["result"]) && it.member("error").is_some_and(is_null), "error", "",
        )).only("har");
    "messages/method-wins-in-lines" ["JRP-SHAPE"] "takes a message with a method and a result for a request, only in lines"
        => on_message(set_if(|it| has_any(it, &["method"]) && has_any(it, &["result"]), "result", "")).only("jsonrpc");
    "messages/empty-ones-dropped-in-lines" ["JRP-SHAPE"] "passes over a message with neither method nor answer, only in lines"
        => on_message(drop_if(|it| {
            has_any(it, &["jsonrpc"]) && !has_any(it, &["method", "result", "error"])
        })).only("jsonrpc");
    "messages/unknown-members-rejected" ["EQ-CONTEXT"] "rejects a message with a member that JSON-RPC does not know"
        => reject_message(|message| {
            let unknown = has_unknown(&["jsonrpc", "id", "method", "params", "result", "error"]);
            Json::parse(&message.text).is_ok_and(unknown)
        });
    "messages/calls-by-their-look" ["EQ-COUNT"] "finds messages by the word `jsonrpc`, even in arguments"
        => on_reading(|reading| {
            let inner: Vec<ReadEntry> = reading.entries.iter().filter_map(inner_message).collect();
            reading.entries.extend(inner);
        });
    "messages/last-of-two-ids-in-lines" ["SRV-TWICE"] "takes the last of two members called `id`, only in lines"
        => on_message(last_wins("id")).only("jsonrpc");
    "messages/last-of-two-methods-in-lines" ["SRV-TWICE"] "takes the last of two members called `method`, only in lines"
        => on_message(last_wins("method")).only("jsonrpc");
    "messages/last-of-two-names-in-lines" ["SRV-TWICE"] "takes the last of two members called `name` in params, only in lines"
        => on_message(on_member("params", last_wins("name"))).only("jsonrpc");
    "messages/batches-of-one" ["ENV-SINGLE" "JRP-LINE" "HAR-MESSAGE"] "unwraps an array of one message"
        => on_text(|format, text| match Shape::of(format) {
            Shape::Lines => crate::json::lines(text, &mut |line| only_item(Json::parse(line).ok()?)),
            Shape::Trace => crate::json::lines(text, &mut |line| in_text(line, &["raw"], &mut only_item)),
            _ => in_text(text, &["entries", "*"], &mut |entry| {
                crate::json::at_each(entry, &[&["request"], &["response"]], &mut only_item)
            }),
        });
    "lines/blank-rejected" ["JRP-LINE"] "rejects a blank line"
        => reject_if(|original| {
            original.text().is_some_and(|text| text.lines().any(|line| line.trim().is_empty()))
        }).only("jsonrpc");
    "lines/last-needs-its-end" ["JRP-LINE"] "loses a last line that has no line end"
        => on_lines_text(|text| {
            let kept = text.rfind('\n').map_or(0, |at| at + 1);
            (kept < text.len()).then(|| text[..kept].to_owned())
        });
    "lines/crlf-rejected" ["JRP-LINE"] "rejects CR before LF"
        => reject_if(|original| {
            Shape::of(original.format).is_lines() && original.bytes.windows(2).any(|pair| pair == b"\r\n")
        });
    "lines/cr-ends-lines" ["JRP-LINE"] "takes a lone CR for a line end"
        => on_shape(Shape::Lines, |_, text| {
            let text = text.replace("\r\n", "\n");
            text.contains('\r').then(|| text.replace('\r', "\n"))
        });
    "lines/unicode-ends-lines" ["JRP-LINE" "EQ-ARGS"] "takes U+2028 and the like for line ends, as str.splitlines does"
        => on_lines_text(|text| text.contains(LINE_ENDS).then(|| text.replace(LINE_ENDS, "\n")));
    // A line that ends too early was cut off; it is rejected as such.
    "lines/stray-text-passed" ["JRP-LINE"] "passes over lines that are not JSON"
        => skip_lines(|line| Json::parse(line).is_err() && !line.trim_start().starts_with('{'));
    "lines/broken-objects-passed" ["JRP-LINE"] "passes over lines that begin like an object and are not JSON"
        => skip_lines(|line| Json::parse(line).is_err() && line.trim_start().starts_with('{'));
    "lines/values-passed" ["JRP-LINE"] "passes over lines that are JSON and not an object"
        => skip_lines(|line| Json::parse(line).is_ok_and(|value| !is_object(value) && !is_array(value)));
    "lines/null-passed" ["JRP-LINE"] "passes over a line that is null" => skip_lines(|line| line.trim() == "null");
    "lines/empty-batch-passed" ["JRP-LINE"] "passes over an empty array" => skip_lines(|line| line.trim() == "[]");
    "lines/batches" ["JRP-LINE"] "reads an array of messages, one after the other"
        => on_line(|line| {
            let value = Json::parse(line).ok().filter(|value| is_array(*value))?;
            Some(value.items().map(Json::text).collect::<Vec<_>>().join("\n"))
        });
    "lines/several-on-one" ["JRP-LINE"] "reads several values on one line"
        => on_line(|line| values(line).filter(|values| values.len() > 1).map(|values| values.join("\n")));
    "lines/one-over-several" ["JRP-LINE"] "reads a message that is spread over several lines"
        => on_shape(Shape::Lines, |_, text| {
            let values: Vec<String> = values(text)?.iter().map(|value| value.replace(['\n', '\r'], " ")).collect();
            let spread = values.len() < text.lines().filter(|line| !line.trim().is_empty()).count();
            spread.then(|| values.join("\n"))
        });
    "lines/content-length" ["JRP-LINE"] "passes over the headers of another framing"
        => skip_lines(|line| line.starts_with("Content-Length"));
    "lines/comments" ["JRP-LINE"] "passes over comments"
        => skip_lines(|line| ["//", "#"].iter().any(|sign| line.trim_start().starts_with(sign)));
    "lines/trailing-commas" ["JRP-LINE"] "accepts a comma before a closing bracket"
        => repair_lines(|line| line.replace(",}", "}").replace(",]", "]").trim_end_matches(',').to_owned());
    "lines/javascript-words" ["JRP-LINE"] "reads NaN and Infinity as null"
        => repair_words(&[("-Infinity", "null"), ("Infinity", "null"), ("NaN", "null")]);
    "lines/python-words" ["JRP-LINE"] "reads True, False and None"
        => repair_words(&[("True", "true"), ("False", "false"), ("None", "null")]);
    "lines/single-quotes" ["JRP-LINE"] "reads strings in single quotes" => repair_words(&[("'", "\"")]);
    "lines/raw-tabs" ["JRP-LINE"] "accepts a tab in a string" => repair_words(&[("\t", "\\t")]);
    "lines/leading-zeros" ["JRP-LINE"] "reads numbers with a zero or a plus in front"
        => repair_words(&[(":0", ":"), (":+", ":"), (": 0", ":"), (": +", ":")]);
    "lines/bare-points" ["JRP-LINE"] "reads `1.` and `.5`"
        => repair_words(&[(".}", ".0}"), (".,", ".0,"), (":.", ":0."), (": .", ":0.")]);
    "lines/odd-escapes" ["JRP-LINE"] "takes an unknown escape for the letter behind it"
        => repair_words(&[
            ("\\x", "x"), ("\\a", "a"), ("\\q", "q"), ("\\e", "e"), ("\\v", "v"), ("\\'", "'"), ("\\d", "d"),
            ("\\w", "w"), ("\\.", "."),
        ]);
    "lines/hexadecimal" ["JRP-LINE"] "reads hexadecimal numbers"
        => repair_lines(|line| {
            let Some((before, rest)) = line.split_once("0x") else { return line.to_owned() };
            let digits: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
            let number = u64::from_str_radix(&digits, 16).unwrap_or_default();
            format!("{before}{number}{}", &rest[digits.len()..])
        });
    "lines/traces-sniffed" ["JRP-VERSION" "JRP-LINE"] "reads the `raw` of a line that has one, since a trace is made of lines too"
        => on_shape(Shape::Lines, |_, text| {
            let trace = text.contains("\"raw\"");
            crate::json::lines(text, &mut |line| {
                let object = Json::parse(line).ok().filter(|line| trace && line.member("jsonrpc").is_none())?;
                Some(object.member("raw").map_or_else(String::new, |raw| raw.text().to_owned()))
            })
        });
    "lines/mark-rejected" ["SRV-TWICE"] "rejects a byte order mark, only in lines"
        => reject_if(|original| original.bytes.starts_with(b"\xef\xbb\xbf")).only("jsonrpc");
    "lines/first-line-lost-to-a-mark" ["SRV-TWICE"] "loses the line with a byte order mark"
        => on_bytes(|format, bytes| {
            let marked = Shape::of(format).is_lines() && bytes.starts_with(b"\xef\xbb\xbf");
            let end = bytes.iter().position(|&byte| byte == b'\n')?;
            marked.then(|| bytes[end + 1..].to_vec())
        });
    "lines/unmarked-passed-over" ["SRV-BYTES"] "looks for marks in text, and passes over a message without one"
        => on_bytes(|_, bytes| {
            let marked = |line: &&[u8]| !line.starts_with(b"{");
            let kept: Vec<_> = bytes.split_inclusive(|&byte| byte == b'\n').filter(marked).collect();
            Some(kept.concat()).filter(|kept| kept.len() < bytes.len())
        }).only("marked-text");
    "lines/unicode-space" ["JRP-LINE"] "strips whatever Unicode calls a space from a line"
        => on_line(|line| {
            let stripped = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            (stripped.len() != line.trim_matches([' ', '\t', '\r']).len()).then(|| stripped.to_owned())
        });
}

/// A reader that takes a message for one of version 2.0 where its version, or the whole message, passes a test.
fn accept(takes: fn(Option<Json<'_>>, Json<'_>) -> bool) -> Mutation {
    on_message(move |message: Json<'_>| {
        let version = message.member("jsonrpc");
        let right = version.and_then(Json::as_text).is_some_and(|version| version.is("2.0"));
        let named = has_any(message, &["method", "result", "error"]);
        (!right && named && takes(version, message)).then(|| set(message, "jsonrpc", "\"2.0\""))
    })
}

/// A reader that prints a method of such kinds.
fn print_method(prints: fn(JsonKind) -> bool) -> Mutation {
    on_message(on_member("method", move |method: Json<'_>| {
        prints(method.kind()).then(|| quoted(method.text()))
    }))
}

/// The message in the arguments of a call, as an entry like the call's.
fn inner_message(entry: &ReadEntry) -> Option<ReadEntry> {
    let whole = Json::parse(&entry.message.as_ref()?.text).ok()?;
    let arguments = value_at(whole, &["params", "arguments"])?;
    let mut values = arguments.members().map(|(_, value)| value).chain([arguments]);
    let message = values.find_map(|value| {
        value.member("jsonrpc")?;
        Message::parse(value.text()).ok()
    })?;
    Some(ReadEntry { message: Some(ReadMessage::of(&message)), ..entry.clone() })
}

fn only_item(value: Json<'_>) -> Option<String> {
    let mut items = value.items();
    let only = items.next()?;
    items.next().is_none().then(|| only.text().to_owned())
}

/// The JSON values that a text consists of.
fn values(text: &str) -> Option<Vec<&str>> {
    let mut scanner = Scanner::new(text);
    let mut values = Vec::new();
    loop {
        scanner.space();
        if scanner.peek().is_none() {
            return Some(values);
        }
        values.push(scanner.take().ok()?.text());
    }
}
