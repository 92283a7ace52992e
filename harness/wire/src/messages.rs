//! Messages as text: their ids and tokens, and the same message with another one.

use std::borrow::Cow;
use std::ops::Range;
use transcript::json::{Json, JsonKind, compact, quoted};
use transcript::message::{Id, Message};

/// Whether a message is this request, or notification.
pub(crate) fn is(message: Message<'_>, method: &str) -> bool {
    message.method().is_some_and(|name| name.is(method))
}

/// The progress token that a request brings along.
pub(crate) fn own_token(message: Message<'_>) -> Option<Json<'_>> {
    message.params()?.member("_meta")?.member("progressToken")
}

/// A member of the params of a notification.
pub(crate) fn about<'a>(message: Message<'a>, method: &str, member: &str) -> Option<Json<'a>> {
    message.method().filter(|name| name.is(method))?;
    message.params()?.member(member)
}

/// The revision that the parameters of `initialize`, or its result, name.
pub(crate) fn protocol_version(value: Json<'_>) -> Option<String> {
    Some(value.member("protocolVersion")?.as_text()?.to_str()?.into_owned())
}

/// The text of a message's id, verbatim.
pub(crate) fn id_text(message: Message<'_>) -> Option<&str> {
    message.text().get(id_span(message)?)
}

/// Where in a message's text its id is.
pub(crate) fn id_span(message: Message<'_>) -> Option<Range<usize>> {
    let length = match message.id() {
        Id::Missing | Id::Null => return None,
        Id::Text(text) => text.raw().len() + 2,
        Id::Number(text) => text.len(),
    };
    Some(message.id_at()..message.id_at() + length)
}

/// Where in a message's text a value of it is.
pub(crate) fn span(message: Message<'_>, value: Json<'_>) -> Option<Range<usize>> {
    let start = (value.text().as_ptr() as usize).checked_sub(message.text().as_ptr() as usize)?;
    let span = start..start + value.text().len();
    (message.text().get(span.clone()) == Some(value.text())).then_some(span)
}

/// A message with another text in that place.
pub(crate) fn with<'a>(message: Message<'a>, span: Option<Range<usize>>, name: Option<&str>) -> Cow<'a, str> {
    let text = message.text();
    let (Some(span), Some(name)) = (span, name) else { return Cow::Borrowed(text) };
    match (text.get(..span.start), text.get(span.end..)) {
        (Some(before), Some(after)) => Cow::Owned([before, name, after].concat()),
        _ => Cow::Borrowed(text),
    }
}

/// A message with the id under which its client listens, where it belongs to `subscriptions/listen`; `name` is shown the id that
/// it has.
pub(crate) fn subscribed<'a>(text: Cow<'a, str>, name: impl Fn(Json<'_>) -> Option<String>) -> Cow<'a, str> {
    let renamed = |text: &str| {
        let message = Message::parse(text).ok()?;
        let meta = message.params().or(message.outcome())?.member("_meta")?;
        let id = meta.member("io.modelcontextprotocol/subscriptionId")?;
        Some(with(message, span(message, id), Some(&name(id)?)).into_owned())
    };
    renamed(&text).map_or(text, Cow::Owned)
}

/// The code of an error with which a request is answered that nobody else answers.
const INTERNAL_ERROR: i32 = -32603;

/// An error for the request of this id, verbatim from its message.
pub(crate) fn internal_error(id: &str, why: &str) -> String {
    let message = quoted(why);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{INTERNAL_ERROR},"message":{message}}}}}"#)
}

/// The id of an answer that is not a message, since it has a method beside its result, or no `jsonrpc`.
pub(crate) fn answered_id(text: &str) -> Option<&str> {
    let said = Json::parse(text).ok()?;
    said.member("result").or(said.member("error"))?;
    Some(said.member("id")?.text())
}

/// The messages of a text: one, or those of a batch.
pub(crate) fn messages(text: &str) -> Result<Vec<Message<'_>>, String> {
    let of = |text| Message::parse(text).map_err(|refusal| refusal.message);
    match Json::parse(text) {
        Ok(list) if list.kind() == JsonKind::Array && list.items().next().is_none() => {
            Err("it is an empty batch".to_owned())
        }
        Ok(list) if list.kind() == JsonKind::Array => list.items().map(|item| of(item.text())).collect(),
        _ => Ok(vec![of(text)?]),
    }
}

/// The message as one line, whatever white space the recording had between its tokens.
pub(crate) fn on_one_line(text: &str) -> Cow<'_, str> {
    match Json::parse(text) {
        Ok(value) if text.contains('\n') => Cow::Owned(compact(value)),
        _ => Cow::Borrowed(text),
    }
}
