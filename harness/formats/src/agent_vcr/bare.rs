//! A message without the nulls that the recorder added.

use transcript::json::{Json, JsonKind, Scanner, SyntaxError};
use transcript::message::Refusal;

/// A message's text without its added nulls, and what was cut out.
pub(super) struct Bare {
    pub(super) text: String,
    /// Ranges of the text as it stood, in order.
    cuts: Vec<(usize, usize)>,
}

impl Bare {
    /// None where nothing is to be cut out.
    pub(super) fn of(message: Json<'_>) -> Option<Self> {
        let text = message.text();
        let cuts = cuts(message).ok().filter(|cuts| !cuts.is_empty())?;
        let mut bare = String::with_capacity(text.len());
        let mut from = 0;
        for (start, end) in &cuts {
            bare.push_str(&text[from..*start]);
            from = *end;
        }
        bare.push_str(&text[from..]);
        Some(Self { text: bare, cuts })
    }

    /// A refusal with its place in the text as it stood.
    pub(super) fn moved(&self, refusal: Refusal) -> Refusal {
        let at = self.cuts.iter().fold(refusal.at, |at, (start, end)| match at >= *start {
            true => at + end - start,
            false => at,
        });
        Refusal { at, ..refusal }
    }
}

fn cuts(message: Json<'_>) -> Result<Vec<(usize, usize)>, SyntaxError> {
    if message.kind() != JsonKind::Object {
        return Ok(Vec::new());
    }
    let failed = message.member("error").is_some_and(|error| error.kind() == JsonKind::Object);
    let mut error = None;
    let mut found = cut(message.text(), |name, at, value| {
        if name == "error" && value.kind() == JsonKind::Object {
            error = Some((at, value));
        }
        let is_added = matches!(name, "params" | "error") || name == "result" && failed;
        is_added && value.kind() == JsonKind::Null
    })?;
    if let Some((at, error)) = error {
        let inner = cut(error.text(), |name, _, value| name == "data" && value.kind() == JsonKind::Null)?;
        found.extend(inner.into_iter().map(|(start, end)| (at + start, at + end)));
        found.sort_unstable();
    }
    Ok(found)
}

/// Where the members stand that `goes` chooses, each with one of the commas beside it.
fn cut<'a>(
    object: &'a str,
    mut goes: impl FnMut(&str, usize, Json<'a>) -> bool,
) -> Result<Vec<(usize, usize)>, SyntaxError> {
    let mut scanner = Scanner::new(object);
    let mut found = Vec::new();
    // The end of the member before, once one stays; the beginning of one that goes ahead of all that stay.
    let (mut before, mut ahead) = (None, None);
    let mut more = scanner.open(b'}')?;
    while more {
        let key_at = scanner.at();
        let key = scanner.key()?;
        let at = scanner.at();
        let value = scanner.take()?;
        let end = scanner.at();
        found.extend(ahead.take().map(|start| (start, key_at)));
        let has_gone = goes(&key.to_str().unwrap_or_default(), at, value);
        match before {
            Some(before) if has_gone => found.push((before, end)),
            None if has_gone => ahead = Some(key_at),
            _ => {}
        }
        if !has_gone || before.is_some() {
            before = Some(end);
        }
        more = scanner.more(b'}')?;
        if !more {
            found.extend(ahead.take().map(|start| (start, end)));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::Bare;
    use transcript::json::Json;

    #[test]
    fn nulls_go_with_one_comma_each() {
        for (text, bare) in [
            (r#"{"a":1}"#, None),
            (r#"{"result":null}"#, None),
            (r#"{"error":null}"#, Some("{}")),
            (r#"{ "params" : null , "error":null, "id" : 1 }"#, Some(r#"{ "id" : 1 }"#)),
            (r#"{"id":1, "params":null , "error" : null }"#, Some(r#"{"id":1 }"#)),
            (r#"{"id":1,"params":null,"x":2}"#, Some(r#"{"id":1,"x":2}"#)),
            (r#"{"x":{"params":null}}"#, None),
            (r#"{"result":null,"error":null}"#, Some(r#"{"result":null}"#)),
            (
                r#"{"id":1,"result":null,"error":{"data":null,"code":1}}"#,
                Some(r#"{"id":1,"error":{"code":1}}"#),
            ),
            (r#"{"error":{"code":1,"data":null},"result":null}"#, Some(r#"{"error":{"code":1}}"#)),
            (r#"{"error":{"data":{"data":null}}}"#, None),
            ("[null]", None),
        ] {
            let found = Bare::of(Json::parse(text).unwrap());
            assert_eq!(found.map(|found| found.text).as_deref(), bare, "{text}");
        }
    }
}
