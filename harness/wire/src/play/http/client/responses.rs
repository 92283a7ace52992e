//! What a client makes of what comes back for a request.

use super::session::{Call, ClientSession, Purpose};
use crate::http::{EVENTS, Event, Failure, JSON, SESSION, media_type, text};
use crate::play::http::calls::CallEvent;
use crate::play::http::protocol::Transport;
use crate::play::http::route::{Reply, Route};
use crate::play::mismatch::{Kind, Mismatch};
use crate::play::plan::Played;
use hyper::Uri;
use hyper::header::{CONTENT_TYPE, HeaderMap};
use transcript::json::Json;
use transcript::message::resembles_message;

impl ClientSession<'_> {
    /// Heeds something that came back for a request.
    pub(super) fn heed(&mut self, number: u64, came: CallEvent) {
        // What comes for a request that was let go is nobody's.
        let Some(what) = self.calls.get(&number).map(|call| call.what) else { return };
        match came {
            CallEvent::Answered(status, headers) => self.answered(number, what, status, &headers),
            CallEvent::Event(event) => self.event(what, event),
            CallEvent::Body(bytes) => self.body(number, what, bytes),
            CallEvent::TooLong(bytes) => {
                self.report(Mismatch::of(Kind::TooLong(bytes), None));
                self.ended(number, what, None);
            }
            CallEvent::Ended(broken) => self.ended(number, what, broken),
            CallEvent::Failed(failure) => self.failed(number, failure),
        }
    }

    /// The head of an answer.
    fn answered(&mut self, number: u64, what: Purpose, status: u16, headers: &HeaderMap) {
        if let Some(call) = self.calls.get_mut(&number) {
            call.status = Some(status);
        }
        self.blocked = self.blocked.filter(|blocked| *blocked != number);
        let media = media_type(headers);
        match what {
            Purpose::Post(step) => {
                self.accepted += 1;
                let expected = self.expected(step);
                let fits = status == expected
                    || self.transport == Transport::HttpSse && (200..300).contains(&status);
                if !fits {
                    let why = format!("the server answered with status {status}; expected {expected}");
                    self.report_at(step, why);
                }
                let asks = matches!(self.routes.replies.get(step), Some(Reply::Json(_) | Reply::Stream));
                let read = media == JSON || media == EVENTS;
                if self.transport == Transport::StreamableHttp && asks && fits && !read {
                    let whole = text(headers, CONTENT_TYPE.as_str()).map(|media| media.to_lowercase());
                    let media = whole.as_deref().unwrap_or("nothing");
                    let why = format!("the server answered with {media}; expected {JSON} or {EVENTS}");
                    self.report_at(step, why);
                }
                let method = self.plan.script.message(step).and_then(|message| message.method());
                let given = headers.get(SESSION).and_then(|id| id.to_str().ok());
                if let Some(id) = given
                    && method.is_some_and(|method| method.is("initialize"))
                {
                    self.session = Some(id.to_owned());
                }
            }
            // A server need not have a stream of its own; what is awaited on it is missed soon enough.
            Purpose::Stream(Route::Get) if status == 405 => self.no_get = true,
            // It may be too early for a stream, and is tried again once something is awaited on it.
            Purpose::Stream(Route::Get) if status != 200 && self.ahead == Some(number) => {}
            Purpose::Stream(route) if status != 200 || media != EVENTS => {
                let why = format!("a GET for a stream was answered with status {status}");
                // One that nothing has to come on was worth a try.
                if self.transport == Transport::HttpSse || self.routes.of.contains(&route) {
                    self.report(Mismatch::protocol(why));
                } else {
                    self.plan.notify.note(&why);
                }
                self.no_get |= route == Route::Get;
            }
            Purpose::Delete if !((200..300).contains(&status) || status == 405) => {
                self.report(Mismatch::protocol(format!("a DELETE was answered with status {status}")));
            }
            _ => {}
        }
    }

    /// The status of the answer to a message.
    fn expected(&self, step: usize) -> u16 {
        match (self.transport, self.routes.replies.get(step)) {
            (Transport::HttpSse, _) | (_, None) => 202,
            (_, Some(Reply::Accepted(status) | Reply::Json(status) | Reply::Refused(status, _))) => *status,
            (_, Some(Reply::Stream)) => 200,
        }
    }

    fn event(&mut self, what: Purpose, event: Event) {
        let is_message = event.is_message();
        let Event { name, id, data, .. } = event;
        let route = what.route().unwrap_or(Route::Get);
        self.tries.remove(&route);
        let again = id.as_ref().is_some_and(|id| self.seen.contains(id));
        if let Some(id) = id {
            self.seen.insert(id.clone());
            self.last.insert(route, id);
        }
        if is_message {
            self.hear(&data, again);
        } else if name.as_deref() == Some("endpoint") && self.transport == Transport::HttpSse {
            let text = String::from_utf8_lossy(&data);
            // A whole URL leads to the same server: another one was not named on the command line.
            let uri = text.trim().parse::<Uri>().ok();
            self.endpoint = uri.and_then(|uri| uri.path_and_query().map(|path| path.as_str().to_owned()));
            if self.endpoint.is_none() {
                self.report(Mismatch::protocol(format!("the endpoint {text} is not a path")));
            }
        }
    }

    fn body(&mut self, number: u64, what: Purpose, bytes: Vec<u8>) {
        let status = self.calls.get(&number).and_then(|call| call.status).unwrap_or_default();
        let text = std::str::from_utf8(&bytes).unwrap_or_default();
        let is_message = Json::parse(text).is_ok_and(|value| match status {
            // Under an error of HTTP an object may have a member `error` that is another protocol's.
            400.. => value.member("jsonrpc").is_some(),
            _ => resembles_message(value) || value.items().next().is_some(),
        });
        // Beside messages, servers say in words why they refuse, or that they accept.
        let said = self.transport == Transport::StreamableHttp && status == 200 && !bytes.is_empty();
        if matches!(what, Purpose::Post(_)) && (is_message || said) {
            self.hear(&bytes, false);
        }
    }

    /// Hears what is meant to be a message. What came before under the same event id is one only where the session has
    /// it again.
    fn hear(&mut self, bytes: &[u8], again: bool) {
        let Ok(text) = std::str::from_utf8(bytes) else {
            let came = String::from_utf8_lossy(bytes).into_owned();
            return self.report(Mismatch::of(Kind::NoMessage("it is not UTF-8".to_owned()), Some(came)));
        };
        if again && !self.player.expects_again(text) {
            return self.plan.notify.note("skipped an event that was delivered again");
        }
        for heard in self.player.receive(text) {
            heard.mismatch.into_iter().for_each(|mismatch| self.report(mismatch));
        }
    }

    fn ended(&mut self, number: u64, what: Purpose, broken: Option<String>) {
        self.calls.remove(&number);
        if let Some(why) = &broken {
            self.report(Mismatch::protocol(format!("a stream or an answer broke off: {why}")));
        }
        // Where an answer is awaited that did not come, the client comes back for it.
        let Some(route @ Route::Answer(step)) = what.route() else {
            if self.transport == Transport::HttpSse && what == Purpose::Stream(Route::Get) {
                self.blocked = None;
            }
            return;
        };
        let steps = self.plan.script.steps();
        let answer = steps.iter().position(|found| found.answers == Some(step));
        let is_awaited = answer.is_some_and(|answer| !self.player.is_done(answer));
        if is_awaited && self.last.contains_key(&route) {
            self.open(route);
        }
    }

    fn failed(&mut self, number: u64, Failure { why, unreachable }: Failure) {
        let call = self.calls.remove(&number);
        self.blocked = self.blocked.filter(|blocked| *blocked != number);
        if unreachable && self.tally == Played::default() && self.player.received() == 0 {
            self.unreachable = Some(why);
        } else if let Some(Call { what: Purpose::Post(step), .. }) = call {
            self.report_at(step, format!("the message could not be sent: {why}"));
        } else {
            self.report(Mismatch::protocol(format!("a request could not be sent: {why}")));
        }
    }
}
