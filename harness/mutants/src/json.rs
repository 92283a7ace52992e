//! Small changes to JSON text that leave every other byte as it was, and edits and tests to build them from.
//!
//! An [`Edit`] gives the new text of a value, or nothing where it leaves the value as it is; an empty text takes a
//! member or an item away.

use transcript::json::{Json, JsonKind, JsonString};
pub use verdict::protocol::quoted;

/// A change to a value.
pub trait Edit: Fn(Json<'_>) -> Option<String> + Send + Sync + 'static {}
impl<F: Fn(Json<'_>) -> Option<String> + Send + Sync + 'static> Edit for F {}

/// A question about a value.
pub trait Test: Fn(Json<'_>) -> bool + Send + Sync + 'static {}
impl<F: Fn(Json<'_>) -> bool + Send + Sync + 'static> Test for F {}

/// Takes a value away.
pub fn drop_if(test: impl Test) -> impl Edit {
    move |value: Json<'_>| test(value).then(String::new)
}

/// Puts a text in a value's place.
pub fn put_if(test: impl Test, text: &'static str) -> impl Edit {
    move |value: Json<'_>| test(value).then(|| text.to_owned())
}

/// Gives a member of an object another value.
pub fn set_if(test: impl Test, name: &'static str, text: &'static str) -> impl Edit {
    move |object: Json<'_>| test(object).then(|| set(object, name, text))
}

/// Takes a member of an object away.
pub fn drop_member(name: &'static str) -> impl Edit {
    move |object: Json<'_>| object.member(name).map(|_| set(object, name, ""))
}

/// Edits one member of an object, which then comes last.
pub fn on_member(name: &'static str, edit: impl Edit) -> impl Edit {
    move |object: Json<'_>| edit(object.member(name)?).map(|new| set(object, name, &new))
}

/// Edits a member that is a string; the edit is given its content.
pub fn on_text_member(
    name: &'static str,
    edit: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> impl Edit {
    on_member(name, move |value: Json<'_>| edit(&content(value)?).map(|new| quoted(&new)))
}

/// Finds a member that differs from this name only in case, and gives it the name.
pub fn any_case(names: &'static [&'static str]) -> impl Edit {
    move |object: Json<'_>| {
        let (found, wanted, value) = object.members().find_map(|(name, value)| {
            let differs = |wanted: &&&str| !name.is(wanted) && name.raw().eq_ignore_ascii_case(wanted);
            Some((name.to_str()?, names.iter().find(differs)?, value))
        })?;
        Some(set(Json::parse(&set(object, &found, "")).ok()?, wanted, value.text()))
    }
}

/// Lets the last of two members of one name win.
pub fn last_wins(name: &'static str) -> impl Edit {
    move |object: Json<'_>| {
        let second = object.members().filter(|(key, _)| key.is(name)).nth(1)?;
        Some(set(object, name, second.1.text()))
    }
}

/// Puts the values of an object in its place, as an array.
pub fn values_of_object(object: Json<'_>) -> Option<String> {
    let values: Vec<&str> = object.members().map(|(_, value)| value.text()).collect();
    is(object, JsonKind::Object).then(|| format!("[{}]", values.join(",")))
}

/// Keeps these members of an object.
pub fn keep_members(kept: impl Fn(&JsonString<'_>, Json<'_>) -> bool + Send + Sync + 'static) -> impl Edit {
    move |value: Json<'_>| {
        let lost = value.members().any(|(name, member)| !kept(&name, member));
        lost.then(|| object(value.members().filter(|(name, member)| kept(name, *member))))
    }
}

/// Edits the numbers inside a value.
pub fn numbers(edit: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> impl Edit {
    tokens(move |token| token.starts_with(|c: char| c == '-' || c.is_ascii_digit()).then(|| edit(token))?)
}

/// Rewrites the strings inside a value; the names of members stay.
pub fn strings(edit: impl Fn(&str) -> String + Send + Sync + 'static) -> impl Edit {
    tokens(move |token| {
        let text = content(Json::parse(token).ok()?)?;
        let new = edit(&text);
        (new != text).then(|| quoted(&new))
    })
}

/// Edits the tokens inside a value: numbers, strings with their quotes, words. The names of members stay.
pub fn tokens(edit: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> impl Edit {
    move |value: Json<'_>| {
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
                    while at < bytes.len() && !b",}]: \n\r\t".contains(&bytes[at]) {
                        at += 1;
                    }
                }
                byte => {
                    out.push(char::from(byte));
                    continue;
                }
            }
            let (token, rest) = text.split_at(at.min(text.len()));
            let token = &token[start..];
            match edit(token).filter(|_| !rest.trim_start().starts_with(':')) {
                Some(new) => {
                    changed = true;
                    out.push_str(&new);
                }
                None => out.push_str(token),
            }
        }
        changed.then_some(out)
    }
}

/// A number as a double prints it, where that is another number; what no double holds stays.
pub fn double(text: &str) -> Option<String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite())?;
    let printed = format!("{number:?}");
    (!transcript::json::same_number(&printed, text)).then_some(printed)
}

/// Whether a value is of this kind.
pub fn is(value: Json<'_>, kind: JsonKind) -> bool {
    value.kind() == kind
}

/// Whether it is an object.
pub fn is_object(value: Json<'_>) -> bool {
    is(value, JsonKind::Object)
}

/// Whether it is an array.
pub fn is_array(value: Json<'_>) -> bool {
    is(value, JsonKind::Array)
}

/// Whether it is null.
pub fn is_null(value: Json<'_>) -> bool {
    is(value, JsonKind::Null)
}

/// Whether it is a string.
pub fn is_string(value: Json<'_>) -> bool {
    is(value, JsonKind::String)
}

/// Whether it is spelled like this.
pub fn spelled(text: &'static str) -> impl Test {
    move |value: Json<'_>| value.text() == text
}

/// Whether there is a member of this name that passes a test.
pub fn member(name: &'static str, test: impl Test) -> impl Test {
    move |object: Json<'_>| object.member(name).is_some_and(&test)
}

/// Whether there is a member of this name whose string passes a test.
pub fn text_member(name: &'static str, test: impl Fn(&str) -> bool + Send + Sync + 'static) -> impl Test {
    member(name, move |value: Json<'_>| content(value).is_some_and(|text| test(&text)))
}

/// Whether there is a member other than these.
pub fn has_unknown(known: &'static [&'static str]) -> impl Test {
    move |object: Json<'_>| object.members().any(|(name, _)| !known.iter().any(|known| name.is(known)))
}

/// Whether an object has one of these members.
pub fn has_any(object: Json<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| object.member(name).is_some())
}

/// The content of a JSON string, where it is text.
pub fn content(value: Json<'_>) -> Option<String> {
    value.as_text()?.to_str().map(Into::into)
}

/// The content of the string at the end of a path of members.
pub fn text_at(value: Json<'_>, path: &[&str]) -> Option<String> {
    content(value_at(value, path)?)
}

/// The value at the end of a path of members.
pub fn value_at<'j>(value: Json<'j>, path: &[&str]) -> Option<Json<'j>> {
    path.iter().try_fold(value, |value, name| value.member(name))
}

/// An object of these members.
pub fn object<'a>(members: impl Iterator<Item = (JsonString<'a>, Json<'a>)>) -> String {
    let members: Vec<String> =
        members.map(|(name, value)| format!("\"{}\":{}", name.raw(), value.text())).collect();
    format!("{{{}}}", members.join(","))
}

/// An object with another value for a member, which then comes last; an empty value takes it away.
pub fn set(object: Json<'_>, name: &str, value: &str) -> String {
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

/// The value at the end of a path (`*` is every item of an array), edited in its place; nothing where no edit changed
/// anything.
pub fn at(
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

/// Several paths of one value, one after the other.
pub fn at_each(
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

/// Each line that `edit` changes; an empty one goes away.
pub fn lines(text: &str, edit: &mut dyn FnMut(&str) -> Option<String>) -> Option<String> {
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
