//! What a converter made up of an exchange.

use crate::made_up::{END, EXCHANGE, REQUEST, RESPONSE, TIMES, TRANSPORT, has};
use std::borrow::Cow;
use transcript::json::{Json, write_string};
use transcript::session::Context;

/// What a converter made up of an exchange.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Invented {
    transport: bool,
    exchange: bool,
    request: bool,
    response: bool,
    pub(super) times: bool,
    pub(super) end: bool,
}

impl Invented {
    pub(super) fn new(list: Option<Json<'_>>) -> Self {
        let [transport, exchange, request, response, times, end] =
            [TRANSPORT, EXCHANGE, REQUEST, RESPONSE, TIMES, END].map(|word| has(list, word));
        Self { transport, exchange, request, response, times, end }
    }

    /// What of the transport was made up, if it was.
    pub(super) fn what(self) -> Option<&'static str> {
        match (self.transport, self.exchange) {
            (true, _) => Some(TRANSPORT),
            (_, true) => Some(EXCHANGE),
            _ => None,
        }
    }

    /// Whether nothing of HTTP was recorded.
    pub(super) fn is_bare(self) -> bool {
        self.transport
    }

    /// The contexts of request and answer, as text, where the session had them and no exchange that would have them.
    pub(super) fn contexts(
        self,
        headers: [&[(Cow<'_, str>, Cow<'_, str>)]; 2],
        status: Option<u16>,
    ) -> [Option<String>; 2] {
        let kept = |invented: bool| self.exchange && !self.transport && !invented;
        let [request, response] = headers;
        [
            kept(self.request).then(|| spelled(None, request)),
            kept(self.response).then(|| spelled(status, response)),
        ]
    }

    /// Such a text as a context.
    pub(super) fn context(self, text: Option<&str>) -> Option<Context<'_>> {
        crate::envelope::context(Json::parse(text?).ok()?)
    }
}

fn spelled(status: Option<u16>, headers: &[(Cow<'_, str>, Cow<'_, str>)]) -> String {
    let mut out = b"{".to_vec();
    if let Some(status) = status {
        out.extend_from_slice(format!("\"status\": {status}, ").as_bytes());
    }
    out.extend_from_slice(b"\"headers\": {");
    for (index, (name, value)) in headers.iter().enumerate() {
        out.extend_from_slice(if index == 0 { b"" } else { b", " });
        write_string(name.as_bytes(), &mut out);
        out.extend_from_slice(b": ");
        write_string(value.as_bytes(), &mut out);
    }
    out.extend_from_slice(b"}}");
    String::from_utf8(out).unwrap_or_default()
}
