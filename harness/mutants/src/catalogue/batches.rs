//! Mistakes about batches, which one revision has.

use crate::Mutation;
use crate::json::{is, is_array, lines, set, text_at};
use crate::on_reading::{lose_messages, on_reading, reject_if};
use crate::on_text::{Shape, on_entry, on_line, on_shape};
use crate::reading::ReadMessage;
use transcript::json::{Json, JsonKind};
use transcript::revision::Revision;

const WISH: &str = r#""params":{"protocolVersion":"2025-03-26""#;
const ANSWER: &str = r#""result":{"protocolVersion":"#;
const AGREED: &str = r#""2025-03-26""#;

mutants! {
    "batches/rejected" ["EQ-BATCH"] "rejects batches of the revision that has them, too"
        => reject_if(|original| original.reading.entries.iter().any(|entry| entry.item.is_some()));
    "batches/first-alone" ["EQ-BATCH" "EQ-COUNT"] "reads the first message of a batch"
        => lose_messages(|entry, _| entry.item > Some(0));
    "batches/backwards" ["EQ-BATCH" "EQ-ORDER"] "reads a batch from its end"
        => on_reading(|reading| {
            let batches = reading.entries.chunk_by_mut(|_, next| next.item > Some(0));
            batches.filter(|run| run[0].item.is_some()).for_each(<[_]>::reverse);
        });
    "batches/by-the-wish" ["EQ-BATCH"] "takes the revision that the client asks for as the session's"
        => apart_if(|text| text.contains(WISH));
    "batches/looks-ahead" ["EQ-BATCH"] "reads batches wherever the recording agrees on their revision at some time"
        => apart_if(|text| text.split(ANSWER).skip(1).any(|rest| rest.starts_with(AGREED)));
    "batches/first-handshake" ["EQ-BATCH"] "keeps to what the first of several handshakes agreed on"
        => apart_if(|text| {
            let (before, rest) = text.split_once(ANSWER).unwrap_or_default();
            rest.starts_with(AGREED) && !before.contains("[{")
        });
    "batches/forgets-at-no-revision" ["EQ-BATCH"] "forgets the revision at a handshake with a version that no revision has"
        => reject_if(|original| {
            let unknown = original.reading.entries.iter().position(|entry| {
                let version = entry.message.as_ref().and_then(agreed);
                version.is_some_and(|version| Revision::named(&version).is_none())
            });
            unknown.is_some_and(|at| original.reading.entries[at..].iter().any(|entry| entry.item.is_some()))
        });
    "batches/first-header-alone" ["EQ-BATCH"] "looks at the first header with a version alone, and not on if no revision has it"
        => reject_if(|original| {
            let contexts = original.reading.contexts();
            let mut headers = contexts.filter(|it| !it.is_answer()).flat_map(|it| &it.headers);
            let first = headers.find(|(name, _)| name.eq_ignore_ascii_case("MCP-Protocol-Version"));
            let unknown = first.is_some_and(|(_, version)| Revision::named(version).is_none());
            unknown && original.reading.entries.iter().any(|entry| entry.item.is_some())
        });
    "batches/no-headers" ["EQ-BATCH"] "does not look at the header that names the revision"
        => reject_if(|original| {
            let mut methods = original.reading.messages().filter_map(|message| message.method.as_deref());
            let agreed = methods.any(|method| method == b"initialize");
            !agreed && original.reading.entries.iter().any(|entry| entry.item.is_some())
        });
    "batches/headers-decide" ["EQ-BATCH"] "believes the header that names the revision against the handshake"
        => on_entry(|entry: Json<'_>| {
            let version = text_at(entry, &["transport_context", "headers", "MCP-Protocol-Version"])?;
            let batch = entry.member("request").filter(|value| is_array(*value) && version == "2025-03-26")?;
            let each: Vec<String> = batch.items().map(|item| set(entry, "request", item.text())).collect();
            Some(each.join(","))
        });
    "batches/items-passed-over" ["EQ-BATCH"] "passes over items of a batch that are not messages"
        => on_line(|line| items(line, |item| match is(item, JsonKind::Number) {
            true => Vec::new(),
            false => vec![item],
        }));
    "batches/nested-apart" ["EQ-BATCH"] "reads the items of a batch in a batch"
        => on_line(|line| items(line, |item| match is_array(item) {
            true => item.items().collect(),
            false => vec![item],
        }));
}

/// The version that a result names, as that of `initialize` does.
fn agreed(message: &ReadMessage) -> Option<String> {
    text_at(Json::parse(&message.text).ok()?, &["result", "protocolVersion"])
}

/// A reader of lines that takes arrays apart where it believes that it may.
fn apart_if(believes: impl Fn(&str) -> bool + Send + Sync + 'static) -> Mutation {
    on_shape(Shape::Lines, move |_, text| {
        let apart = |line: &str| {
            let batch = Json::parse(line).ok().filter(|value| is_array(*value))?;
            Some(batch.items().map(Json::text).collect::<Vec<_>>().join("\n"))
        };
        believes(text).then(|| lines(text, &mut |line| apart(line)))?
    })
}

/// The line's array with other items, where it is one of several.
fn items<'j>(line: &'j str, edit: impl Fn(Json<'j>) -> Vec<Json<'j>>) -> Option<String> {
    let batch = Json::parse(line).ok().filter(|value| is_array(*value) && value.items().count() > 1)?;
    let kept: Vec<&str> = batch.items().flat_map(edit).map(Json::text).collect();
    Some(format!("[{}]", kept.join(",")))
}
