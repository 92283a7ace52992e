//! Mistakes about what messages carry: numbers, strings, absent and empty members.

use crate::Mutation;
use crate::json::{
    content, double, drop_if, drop_member, has_any, is_array, is_null, is_object, keep_members, numbers,
    object, put_if, set, spelled, strings, tokens,
};
use crate::on_reading::{on_events, on_reading, on_values};
use std::collections::BTreeSet;
use transcript::json::Json;

const ALL: &[&str] = &["tool", "arguments", "params", "result", "error"];
const ARGUMENTS: &[&str] = &["arguments"];
const PARAMS: &[&str] = &["params"];
const OUTCOME: &[&str] = &["result", "error"];

mutants! {
    "values/doubles-in-arguments" ["EQ-ARGS"] "puts the numbers of arguments through a double"
        => on_values(ARGUMENTS, numbers(double));
    "values/doubles-in-results" ["EQ-OUTCOME"] "puts the numbers of results and errors through a double"
        => on_values(OUTCOME, numbers(double));
    "values/singles" ["EQ-ARGS" "EQ-OUTCOME"] "puts numbers through a 32-bit float"
        => on_values(ALL, numbers(|text| {
            let single = text.parse::<f32>().ok().filter(|single| single.is_finite())?;
            let exact = text.parse::<f64>().ok()?;
            (f64::from(single) != exact).then(|| f64::from(single).to_string())
        }));
    "values/truncated" ["EQ-ARGS" "EQ-OUTCOME"] "drops what follows the decimal point"
        => on_values(ALL, numbers(|text| text.split_once('.').map(|(whole, _)| whole.to_owned())));
    "values/huge-is-null" ["EQ-ARGS" "EQ-OUTCOME"] "writes null for a number that a double cannot hold"
        => on_values(ALL, numbers(|text| text.parse::<f64>().ok()?.is_infinite().then(|| "null".to_owned())));
    "values/tiny-is-zero" ["EQ-ARGS" "EQ-OUTCOME"] "writes 0 for a number that is too small for a double"
        => on_values(ALL, numbers(|text| {
            let some = text.split(['e', 'E']).next()?.contains(|c: char| matches!(c, '1'..='9'));
            (text.parse::<f64>().ok()? == 0.0 && some).then(|| "0".to_owned())
        }));
    "values/numbers-as-text" ["EQ-ARGS"] "writes numbers in arguments as strings"
        => on_values(ARGUMENTS, numbers(|text| Some(format!("\"{text}\""))));
    "values/big-numbers-as-text" ["EQ-ARGS" "EQ-OUTCOME"] "writes numbers of more than 15 digits as strings"
        => on_values(ALL, numbers(|text| {
            (text.bytes().filter(u8::is_ascii_digit).count() > 15).then(|| format!("\"{text}\""))
        }));
    "values/digits-are-numbers" ["EQ-ARGS" "EQ-OUTCOME"] "reads strings of digits as numbers"
        => on_values(ALL, tokens(|token| {
            let inside = token.strip_prefix('"')?.strip_suffix('"')?;
            inside.parse::<u64>().ok().map(|number| number.to_string())
        }));
    "values/unpacked-json" ["EQ-ARGS" "EQ-OUTCOME"] "reads a string that holds a JSON object as the object"
        => on_values(ALL, tokens(|token| {
            let inside = content(Json::parse(token).ok()?)?;
            Json::parse(&inside).ok().filter(|value| is_object(*value)).map(|object| object.text().to_owned())
        }));
    "values/composed" ["EQ-ARGS" "EQ-OUTCOME"] "composes accents in strings (NFC)" => text(|text| text.replace("e\u{301}", "é"));
    "values/trimmed" ["EQ-ARGS" "EQ-OUTCOME"] "trims strings" => text(|text| text.trim().to_owned());
    "values/line-ends" ["EQ-ARGS" "EQ-OUTCOME"] "writes LF for CRLF in strings" => text(|text| text.replace("\r\n", "\n"));
    "values/separators" ["EQ-ARGS" "EQ-OUTCOME"] "writes LF for U+2028 and U+2029"
        => text(|text| text.replace(['\u{2028}', '\u{2029}'], "\n"));
    "values/no-controls" ["EQ-ARGS" "EQ-OUTCOME"] "drops control characters other than line ends and tabs"
        => text(|text| text.replace(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t'), ""));
    "values/c-strings" ["EQ-ARGS" "EQ-OUTCOME"] "ends a string at a NUL"
        => text(|text| text.split('\0').next().unwrap_or_default().into());
    "values/no-bidi" ["EQ-ARGS" "EQ-OUTCOME"] "drops characters that change the direction of text"
        => text(|text| text.replace(
            |c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'), ""));
    "values/basic-plane" ["EQ-ARGS" "EQ-OUTCOME"] "puts a question mark for a character beyond the basic plane"
        => text(|text| text.replace(|c| c > '\u{ffff}', "?"));
    "values/noncharacters-replaced" ["EQ-ARGS" "EQ-OUTCOME"] "puts U+FFFD for noncharacters such as U+FFFE"
        => text(|text| text.replace(
            |c| u32::from(c) & 0xfffe == 0xfffe || ('\u{fdd0}'..='\u{fdef}').contains(&c), "\u{fffd}"));
    "values/cut-strings" ["EQ-ARGS" "EQ-OUTCOME"] "keeps the first 32 KiB of a string"
        => text(|text| text.chars().take(32_768).collect());
    "values/html-unescaped" ["EQ-ARGS" "EQ-OUTCOME"] "reads HTML entities in strings"
        => text(|text| text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"));
    "members/absent-is-empty" ["EQ-ARGS"] "puts {} for absent arguments"
        => on_events(|event| {
            if event.kind == transcript::meaning::EventKind::ToolCall && event.value("arguments").is_none() {
                event.values.push(("arguments", "{}".to_owned()));
            }
        });
    "members/null-is-absent" ["EQ-ARGS"] "drops null arguments" => on_values(ARGUMENTS, drop_if(is_null));
    "members/empty-is-absent" ["EQ-ARGS"] "drops empty arguments" => on_values(ARGUMENTS, drop_if(spelled("{}")));
    "members/null-params-dropped" ["EQ-ARGS"] "drops null params" => on_values(PARAMS, drop_if(is_null));
    "members/params-by-name-only" ["EQ-ARGS" "EQ-COUNT"] "drops params that are an array"
        => on_values(PARAMS, drop_if(is_array));
    "members/arguments-are-objects" ["EQ-ARGS"] "puts {} for arguments that are not an object"
        => on_values(ARGUMENTS, put_if(|value| !is_object(value) && !is_null(value), "{}"));
    "members/empty-names-dropped" ["EQ-ARGS" "EQ-OUTCOME"] "drops members with an empty name"
        => on_values(ALL, keep_members(|name, _| !name.raw().is_empty()));
    "members/names-without-case" ["EQ-ARGS" "EQ-OUTCOME"] "merges members whose names differ in case"
        => on_values(ALL, |value: Json<'_>| {
            let mut seen = BTreeSet::new();
            let kept: Vec<_> = value.members().filter(|(name, _)| seen.insert(name.raw().to_lowercase())).collect();
            (kept.len() < value.members().count()).then(|| object(kept.into_iter()))
        });
    "members/object-properties-dropped" ["EQ-ARGS" "EQ-OUTCOME"] "drops members called `__proto__`"
        => on_values(ALL, keep_members(|name, _| !name.is("__proto__")));
    "members/last-of-two-in-lines" ["SRV-TWICE"] "keeps the last of two members of one name in lines, and both elsewhere"
        => on_reading(|reading| {
            let messages = reading.entries.iter_mut().filter_map(|entry| entry.message.as_mut());
            for (_, value) in messages.flat_map(|message| &mut message.values) {
                if let Some(new) = Json::parse(value).ok().and_then(last_members) {
                    *value = new;
                }
            }
        }).only("jsonrpc");
    "members/sorted-arrays" ["EQ-ARGS" "EQ-OUTCOME"] "sorts the items of arrays"
        => on_values(ALL, |value: Json<'_>| {
            value.members().find_map(|(name, member)| {
                let mut items: Vec<&str> = member.items().map(Json::text).collect();
                let before = items.clone();
                items.sort_unstable();
                let name = name.to_str()?;
                (items != before).then(|| set(value, &name, &format!("[{}]", items.join(","))))
            })
        });
    "members/meta-dropped" ["EQ-OUTCOME"] "drops `_meta` from results" => on_values(OUTCOME, drop_member("_meta"));
    "members/params-meta-dropped" ["EQ-ARGS"] "drops `_meta` from params" => on_values(PARAMS, drop_member("_meta"));
    "members/error-data-dropped" ["EQ-OUTCOME"] "keeps only the code and message of an error"
        => on_values(&["error"], keep_members(|name, _| name.is("code") || name.is("message")));
    "members/structured-content-only" ["EQ-OUTCOME"] "drops `content` where there is `structuredContent`"
        => on_values(&["result"], |value: Json<'_>| {
            has_any(value, &["structuredContent"]).then(|| drop_member("content")(value))?
        });
    "members/sixteen-levels" ["EQ-ARGS" "EQ-OUTCOME"] "puts null for what is nested deeper than sixteen levels"
        => on_values(ALL, put_if(|value| super::survival::depth(value.text().as_bytes()) > 16, "null"));
    "members/tool-last-part" ["EQ-TOOL"] "keeps the part of a tool name behind the last dot, slash or double underscore"
        => on_values(&["tool"], strings(|name| {
            let last = name.rsplit(['.', '/']).next().unwrap_or_default();
            last.rsplit("__").next().unwrap_or_default().into()
        }));
}

/// A reader that rewrites every string that a message carries.
fn text(rewrite: fn(&str) -> String) -> Mutation {
    on_values(ALL, strings(rewrite))
}

fn last_members(whole: Json<'_>) -> Option<String> {
    let members: Vec<_> = whole.members().collect();
    let last = |at: usize| !members[at + 1..].iter().any(|(name, _)| *name == members[at].0);
    let kept: Vec<_> = (0..members.len()).filter(|&at| last(at)).map(|at| members[at]).collect();
    (kept.len() < members.len()).then(|| object(kept.into_iter()))
}
