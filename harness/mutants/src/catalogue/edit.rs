//! Small changes to JSON text that leave every other byte as it was.
//!
//! Knows: where messages and streams stand in each format, as far as a careless importer would look. Refuses to know:
//! what a change is good for. Text that cannot be taken apart stays as it stands.

use transcript::json::{Json, JsonKind, write_string};

/// The value at the end of each of these paths (`*` is every item of an array), edited; none where nothing changed.
/// An edit to an empty text takes an item away, or a member.
pub(super) fn at(
    value: Json<'_>,
    path: &[&str],
    edit: &mut dyn FnMut(Json<'_>) -> Option<String>,
) -> Option<String> {
    let Some((first, rest)) = path.split_first() else { return edit(value) };
    let mut changed = false;
    let mut parts: Vec<String> = Vec::new();
    let mut take = |name: &str, old: Json<'_>, new: Option<String>| {
        changed |= new.is_some();
        match new {
            Some(new) if new.is_empty() => {}
            new => parts.push(format!("{name}{}", new.unwrap_or_else(|| old.text().to_owned()))),
        }
    };
    let (open, close) = match (value.kind(), *first) {
        (JsonKind::Array, "*") => {
            for item in value.items() {
                take("", item, at(item, rest, edit));
            }
            ('[', ']')
        }
        (JsonKind::Object, name) => {
            for (key, member) in value.members() {
                let new = if key.is(name) { at(member, rest, edit) } else { None };
                take(&format!("\"{}\":", key.raw()), member, new);
            }
            ('{', '}')
        }
        _ => return None,
    };
    changed.then(|| format!("{open}{}{close}", parts.join(",")))
}

/// As [`at`], for a whole text.
pub(super) fn text(
    text: &str,
    path: &[&str],
    edit: &mut dyn FnMut(Json<'_>) -> Option<String>,
) -> Option<String> {
    at(Json::parse(text).ok()?, path, edit)
}

/// Each line that `edit` changes; an empty one goes away.
pub(super) fn lines(text: &str, edit: &mut dyn FnMut(&str) -> Option<String>) -> Option<String> {
    let mut changed = false;
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        match edit(bare) {
            None => out.push_str(line),
            Some(new) => {
                changed = true;
                if !new.is_empty() {
                    out.push_str(&new);
                    out.push_str(&line[bare.len()..]);
                }
            }
        }
    }
    changed.then_some(out)
}

/// An object with another value for a member, which is put at the end where there was none; an empty value takes it
/// away.
pub(super) fn set(object: Json<'_>, name: &str, value: &str) -> String {
    let mut parts: Vec<String> = object
        .members()
        .filter(|(key, _)| !key.is(name))
        .map(|(key, member)| format!("\"{}\":{}", key.raw(), member.text()))
        .collect();
    if !value.is_empty() {
        parts.push(format!("\"{name}\":{value}"));
    }
    format!("{{{}}}", parts.join(","))
}

/// A text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    write_string(text.as_bytes(), &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// The content of a JSON string, where it is text.
pub(super) fn content(value: Json<'_>) -> Option<String> {
    value.as_text()?.to_str().map(Into::into)
}

/// Every message of a transcript, edited where it stands.
pub(super) fn messages(
    format: &str,
    whole: &str,
    edit: &dyn Fn(Json<'_>) -> Option<String>,
) -> Option<String> {
    let mut edit = |value: Json<'_>| if value.kind() == JsonKind::Object { edit(value) } else { None };
    match format {
        "jsonrpc" => lines(whole, &mut |line| edit(Json::parse(line).ok()?)),
        "mcp-replay" => lines(whole, &mut |line| {
            at(Json::parse(line).ok()?, &["raw"], &mut edit).map(|new| match Json::parse(&new) {
                // A line whose message is gone is gone.
                Ok(line) if line.member("raw").is_none() => String::new(),
                _ => new,
            })
        }),
        "inspector" => {
            let item = &mut |item: Json<'_>| match item.member("message") {
                Some(_) if item.member("jsonrpc").is_none() => {
                    several(item, &[&["message"], &["response"]], &mut edit)
                }
                _ => edit(item),
            };
            text(whole, &["*"], item).or_else(|| text(whole, &["events", "*"], item))
        }
        "har" => text(whole, &["log", "entries", "*"], &mut |entry| {
            several(
                entry,
                &[&["request", "postData", "text"], &["response", "content", "text"]],
                &mut |body| {
                    let inside = content(body)?;
                    let new = match Json::parse(&inside) {
                        Ok(value) => edit(value)?,
                        Err(_) => lines(&inside, &mut |line| {
                            let data = line.strip_prefix("data:")?;
                            let new = edit(Json::parse(data).ok()?)?;
                            Some(if new.is_empty() { "data:".to_owned() } else { format!("data: {new}") })
                        })?,
                    };
                    Some(quoted(&new))
                },
            )
        }),
        _ => {
            text(whole, &["entries", "*"], &mut |entry| {
                let new = several(entry, &[&["request"], &["response"], &["sse", "data"]], &mut |value| {
                    match content(value) {
                        Some(inside) => edit(Json::parse(&inside).ok()?).map(|new| quoted(&new)),
                        None => edit(value),
                    }
                })?;
                // An entry whose message is gone is gone.
                let slots = Json::parse(&new).ok()?;
                let left = ["request", "response", "sse"].iter().any(|slot| slots.member(slot).is_some());
                Some(if left { new } else { String::new() })
            })
        }
    }
}

/// Every event stream of a HAR, edited as text.
pub(super) fn streams(format: &str, whole: &str, edit: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    if format != "har" {
        return None;
    }
    text(whole, &["log", "entries", "*", "response", "content"], &mut |body| {
        let streams = content(body.member("mimeType")?)?.contains("event-stream");
        let plain = body.member("encoding").is_none_or(|encoding| encoding.kind() == JsonKind::Null);
        if !streams || !plain {
            return None;
        }
        at(body, &["text"], &mut |text| edit(&content(text)?).map(|new| quoted(&new)))
    })
}

/// Every entry of an envelope, edited.
pub(super) fn entries(
    format: &str,
    whole: &str,
    edit: &mut dyn FnMut(Json<'_>) -> Option<String>,
) -> Option<String> {
    if !matches!(format, "streamable-http" | "http-sse") {
        return None;
    }
    text(whole, &["entries", "*"], edit)
}

/// Several paths of one value, one after the other.
fn several(
    value: Json<'_>,
    paths: &[&[&str]],
    edit: &mut dyn FnMut(Json<'_>) -> Option<String>,
) -> Option<String> {
    let mut new: Option<String> = None;
    for path in paths {
        let next = match &new {
            Some(text) => at(Json::parse(text).ok()?, path, edit),
            None => at(value, path, edit),
        };
        new = next.or(new);
    }
    new
}
