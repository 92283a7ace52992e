//! What a server asks of the client: in a request of its own, or from 2026-07-28 on inside the result of a call, to be
//! answered with the call's second try.
//!
//! Both ways, so that a rule on sampling, elicitation or roots is written once. Memory: the questions of results that
//! are still open, up to [`MOST_OPEN`], each up to [`LONGEST`] bytes.

use super::content::LONGEST_NAME;
use super::context::RuleContext;
use super::location::FindingLocation;
use super::message::MessageKind;
use std::collections::BTreeMap;
use transcript::json::{Json, JsonKind};

/// The most questions that are remembered.
const MOST_OPEN: usize = 100;

/// The params of a longer question are not remembered.
const LONGEST: usize = 64 << 10;

const METHODS: [&str; 3] = ["sampling/createMessage", "elicitation/create", "roots/list"];

/// Something that the server asks of the client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerRequest<'m> {
    pub(crate) method: &'static str,
    pub(crate) params: Option<Json<'m>>,
}

/// An answer of the client to what the server asked.
#[derive(Debug)]
pub(crate) struct ClientAnswer<'m> {
    pub(crate) method: &'static str,
    /// What was asked for; none where it could not be kept.
    params: Option<Box<str>>,
    pub(crate) result: Json<'m>,
    pub(crate) request: FindingLocation,
}

impl ClientAnswer<'_> {
    /// What was asked for.
    pub(crate) fn params(&self) -> Option<Json<'_>> {
        Json::parse(self.params.as_deref()?).ok()
    }
}

/// What the server asks of the client at this moment.
pub(crate) fn server_requests<'m>(at: &RuleContext<'m>) -> Vec<ServerRequest<'m>> {
    let Some(message) = at.message else { return Vec::new() };
    if message.kind == MessageKind::Request {
        let method = METHODS.into_iter().find(|method| message.calls(method));
        return method
            .map(|method| ServerRequest { method, params: message.raw.params() })
            .into_iter()
            .collect();
    }
    questions(at)
        .into_iter()
        .map(|(_, method, question)| ServerRequest { method, params: question.member("params") })
        .collect()
}

/// The questions in a result, by their keys.
fn questions<'m>(at: &RuleContext<'m>) -> Vec<(String, &'static str, Json<'m>)> {
    let message = at.message.filter(|message| message.kind == MessageKind::Result);
    let asked = message.and_then(|message| message.raw.outcome()).and_then(|result| {
        let waits = result.member("resultType")?.as_text()?.is("input_required");
        result.member("inputRequests").filter(|_| waits)
    });
    let asked = asked.into_iter().flat_map(Json::members).filter_map(|(key, question)| {
        let method = question.member("method")?.as_text()?;
        let method = METHODS.into_iter().find(|name| method.is(name))?;
        Some((String::from_utf8_lossy(&key.decode()).into_owned(), method, question))
    });
    asked.collect()
}

struct Open {
    method: &'static str,
    params: Option<Box<str>>,
    location: FindingLocation,
}

/// The questions that are open.
#[derive(Default)]
pub(crate) struct ServerRequests {
    open: BTreeMap<String, Open>,
}

impl ServerRequests {
    /// Takes in a step of the session, and says which answers the client gives in it.
    pub(crate) fn see<'m>(&mut self, at: &RuleContext<'m>) -> Vec<ClientAnswer<'m>> {
        let Some(message) = at.message else { return Vec::new() };
        for (key, method, question) in questions(at) {
            if key.len() > LONGEST_NAME {
                continue;
            }
            if self.open.len() >= MOST_OPEN && !self.open.contains_key(&key) {
                self.open.pop_first();
            }
            let params = question.member("params").map(Json::text).filter(|text| text.len() <= LONGEST);
            self.open.insert(key, Open { method, params: params.map(Into::into), location: at.location() });
        }
        if let (Some(request), MessageKind::Result, Some(result)) =
            (message.request(), message.kind, message.raw.outcome())
        {
            let method = METHODS.into_iter().find(|method| *method == request.method());
            let params = || request.params().map(|params| params.text().into());
            return method
                .map(|method| ClientAnswer { method, params: params(), result, request: request.location() })
                .into_iter()
                .collect();
        }
        let answers = message.param("inputResponses").filter(|answers| answers.kind() == JsonKind::Object);
        answers
            .into_iter()
            .flat_map(Json::members)
            .filter_map(|(key, result)| {
                let open = self.open.remove(&*String::from_utf8_lossy(&key.decode()))?;
                Some(ClientAnswer {
                    method: open.method,
                    params: open.params,
                    result,
                    request: open.location,
                })
            })
            .collect()
    }
}
