//! One exchange, and its text in HAR 1.2: the members that HAR requires, `connection` (the client's, counted from 1), and
//! three of our own:
//!
//! | member | meaning |
//! | --- | --- |
//! | `_events` | when each block of an event stream came: its offset in the text in bytes, and milliseconds since the start; of another answer, when it was whole |
//! | `_ended` | who broke the exchange off, where it did not end well |
//! | `_lost` | how many bytes passed that are not in `text` |
//!
//! Its `comment` says where a body is kept with its content coding, since it would be too large without.
//!
//! An exchange without a response has the status 0, as browsers write it.

use super::body::Body;
use super::events::{ProxyEvent, RequestHead, ResponseHead, Side};
use super::kept::milliseconds;
use crate::http::{End, header};
use crate::redaction::Redaction;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;
use transcript::json::quoted;
use transcript::session::{LEFT, STILL_OPEN};

/// An exchange of which more may come.
#[derive(Debug)]
pub(super) struct Exchange {
    asked: RequestHead,
    redaction: Arc<Redaction>,
    /// Both since the recording began.
    pub(super) started: Duration,
    last: Duration,
    sent: Duration,
    answered: Option<(ResponseHead, Duration)>,
    request: Body,
    answer: Body,
    unanswered: Option<String>,
}

impl Exchange {
    /// An exchange that begins with this head.
    pub(super) fn new(asked: RequestHead, started: Duration, redaction: &Arc<Redaction>) -> Self {
        let request = Body::new(&asked.headers, redaction);
        Self {
            asked,
            redaction: Arc::clone(redaction),
            started,
            last: started,
            sent: started,
            answered: None,
            request,
            answer: Body::new(&[], redaction),
            unanswered: None,
        }
    }

    /// Takes an event that came at `at`.
    /// Fails where a part of a body could not be kept; it is counted then.
    pub(super) fn take(&mut self, event: ProxyEvent, at: Duration) -> io::Result<()> {
        self.last = self.last.max(at);
        let now = at.saturating_sub(self.started);
        match event {
            ProxyEvent::Request(_) | ProxyEvent::NotHttp(_) => {}
            ProxyEvent::Response(head) => {
                self.answer = Body::new(&head.headers, &self.redaction);
                self.answered = Some((*head, at));
            }
            ProxyEvent::Part(side, part) => {
                if side == Side::Request {
                    self.sent = at;
                }
                self.side(side).take(&part, now)?;
            }
            ProxyEvent::Lost(side, count) => self.side(side).lost += count,
            ProxyEvent::Ended(side, end) => {
                let passed = self.side(side);
                // The first report is nearest to the cause.
                passed.end.get_or_insert(end);
                passed.finish()?;
            }
            ProxyEvent::NoResponse(why) => self.unanswered = Some(why),
        }
        Ok(())
    }

    fn side(&mut self, side: Side) -> &mut Body {
        match side {
            Side::Request => &mut self.request,
            Side::Response => &mut self.answer,
        }
    }

    /// Nothing more comes.
    /// Fails where what was held of a body could not be kept.
    pub(super) fn close(&mut self) -> io::Result<()> {
        let request = self.request.finish();
        self.answer.finish().and(request)
    }

    /// Whether nothing more can come: the answer ended, or there is none and the client is gone or got its answer from the proxy.
    pub(super) fn is_over(&self) -> bool {
        self.unanswered.is_some() || self.answer.end.is_some() && self.request.end.is_some()
    }

    /// Bytes that passed and are not kept.
    pub(super) fn lost(&self) -> u64 {
        self.request.lost + self.answer.lost
    }

    /// How much text it has.
    pub(super) fn size(&self) -> u64 {
        self.request.size() + self.answer.size()
    }

    /// The session that the answer names.
    pub(super) fn session(&self) -> Option<&str> {
        let headers = &self.answered.as_ref()?.0.headers;
        header(headers, "mcp-session-id")
    }

    /// How it ended, where it did not end well.
    fn fate(&self) -> Option<String> {
        match (&self.unanswered, &self.request.end, &self.answer.end) {
            (Some(why), ..) => Some(format!("no answer: {why}")),
            (_, Some(End::Broken(why)), _) => Some(format!("the client broke off: {why}")),
            (_, _, Some(End::Broken(why))) => Some(format!("the server broke off: {why}")),
            (_, _, Some(End::Dropped)) => Some(LEFT.to_owned()),
            (_, _, None) => Some(STILL_OPEN.to_owned()),
            _ => None,
        }
    }

    /// Writes its text, an object of `log.entries`, with bodies where `with_bodies`.
    pub(super) fn write(&mut self, started: &str, with_bodies: bool, out: &mut impl Write) -> io::Result<()> {
        let took = self.last.saturating_sub(self.started);
        let answered = self.answered.as_ref().map_or(self.last, |(_, at)| *at);
        let send = self.sent.saturating_sub(self.started).min(took);
        let wait = answered.saturating_sub(self.started).saturating_sub(send);
        let receive = took.saturating_sub(send).saturating_sub(wait);
        write!(
            out,
            "{{\"startedDateTime\": {}, \"time\": {},\n \"request\": ",
            quoted(started),
            milliseconds(took)
        )?;
        self.write_request(with_bodies, out)?;
        out.write_all(b",\n \"response\": ")?;
        self.write_answer(with_bodies, out)?;
        let [send, wait, receive] = [send, wait, receive].map(milliseconds);
        write!(
            out,
            ",\n \"cache\": {{}}, \"timings\": {{\"send\": {send}, \"wait\": {wait}, \"receive\": {receive}}}, \
             \"connection\": \"{}\"",
            self.asked.connection
        )?;
        if let Some(fate) = self.fate() {
            write!(out, ",\n \"_ended\": {}", quoted(&self.redaction.text(&fate)))?;
        }
        if with_bodies {
            self.answer.write_blocks(took, out)?;
        }
        if self.request.is_coded() || self.answer.is_coded() {
            let of = if self.answer.is_coded() { "response" } else { "request" };
            write!(
                out,
                ",\n \"comment\": \"the body of the {of} is kept with its content coding: it is too large without\""
            )?;
        }
        let omitted = if with_bodies { 0 } else { self.size() };
        if self.lost() + omitted > 0 {
            write!(out, ",\n \"_lost\": {}", self.lost() + omitted)?;
        }
        out.write_all(b"}")
    }

    fn write_request(&mut self, with_bodies: bool, out: &mut impl Write) -> io::Result<()> {
        let RequestHead { method, url, version, headers, .. } = &self.asked;
        let url = self.redaction.text(url);
        let listed = query(&url);
        let [method, url, version] = [&**method, &*url, version].map(quoted);
        write!(
            out,
            "{{\"method\": {method}, \"url\": {url}, \"httpVersion\": {version}, \"cookies\": [],\n  "
        )?;
        write_headers(headers, &self.redaction, out)?;
        let size = self.request.size() + self.request.lost;
        write!(out, ", \"queryString\": {listed}, \"headersSize\": -1, \"bodySize\": {size}")?;
        if size > 0 {
            let media_type = header(&self.asked.headers, "content-type").unwrap_or_default();
            let media_type = self.redaction.header("content-type", media_type);
            write!(out, ",\n  \"postData\": {{\"mimeType\": {}", quoted(&media_type))?;
            if with_bodies {
                self.request.write_text(out)?;
            }
            out.write_all(b"}")?;
        }
        out.write_all(b"}")
    }

    fn write_answer(&mut self, with_bodies: bool, out: &mut impl Write) -> io::Result<()> {
        let none = ResponseHead::default();
        let ResponseHead { status, reason, version, headers } =
            self.answered.as_ref().map_or(&none, |(head, _)| head);
        let (reason, version) = (quoted(reason), quoted(version));
        write!(
            out,
            "{{\"status\": {status}, \"statusText\": {reason}, \"httpVersion\": {version}, \"cookies\": [],\n  "
        )?;
        write_headers(headers, &self.redaction, out)?;
        let size = self.answer.size() + self.answer.lost;
        let [to, media_type] = ["location", "content-type"]
            .map(|name| quoted(&self.redaction.header(name, header(headers, name).unwrap_or_default())));
        write!(out, ", \"redirectURL\": {to}, \"headersSize\": -1, \"bodySize\": {size}")?;
        write!(out, ",\n  \"content\": {{\"size\": {size}, \"mimeType\": {media_type}")?;
        if with_bodies {
            self.answer.write_text(out)?;
        }
        out.write_all(b"}}")
    }
}

fn write_headers(
    headers: &[(String, String)],
    redaction: &Redaction,
    out: &mut impl Write,
) -> io::Result<()> {
    out.write_all(b"\"headers\": [")?;
    for (index, (name, value)) in headers.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        let value = redaction.header(name, value);
        write!(out, "{comma}{{\"name\": {}, \"value\": {}}}", quoted(name), quoted(&value))?;
    }
    out.write_all(b"]")
}

/// The parts of a query, verbatim: nothing is decoded.
fn query(url: &str) -> String {
    let Some((_, query)) = url.split_once('?') else { return "[]".to_owned() };
    let part = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        format!("{{\"name\": {}, \"value\": {}}}", quoted(name), quoted(value))
    };
    let parts: Vec<String> = query.split('&').filter(|it| !it.is_empty()).map(part).collect();
    format!("[{}]", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::Exchange;
    use crate::http::End;
    use crate::proxy::events::{ProxyEvent, Side};
    use crate::proxy::testing::{answered, asked, said};
    use serde_json::Value;
    use std::sync::Arc;
    use std::time::Duration;

    const STREAM: &str = "text/event-stream";

    fn after(steps: Vec<ProxyEvent>) -> Exchange {
        let mut exchange =
            Exchange::new(asked("application/json"), Duration::from_millis(100), &Arc::default());
        for (step, at) in steps.into_iter().zip(101..) {
            exchange.take(step, Duration::from_millis(at)).unwrap();
        }
        exchange
    }

    fn written(exchange: &mut Exchange, with_bodies: bool) -> Value {
        let mut out = Vec::new();
        exchange.write("2026-01-01T00:00:00.000000Z", with_bodies, &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn an_exchange_says_what_passed_and_when() {
        let mut exchange = after(vec![
            ProxyEvent::Part(Side::Request, b"{}".to_vec()),
            ProxyEvent::Ended(Side::Request, End::Complete),
            answered(STREAM),
            said("data: 1\n\n"),
            ProxyEvent::Ended(Side::Response, End::Complete),
        ]);
        assert!(exchange.is_over());
        let har = written(&mut exchange, true);
        assert_eq!(
            (&har["request"]["postData"]["text"], &har["response"]["status"]),
            (&"{}".into(), &200.into())
        );
        assert_eq!(har["response"]["content"]["text"], "data: 1\n\n");
        assert_eq!(har["_events"].to_string(), r#"[{"at":0,"time":4.0}]"#);
        assert_eq!(har["connection"], "7");
        assert_eq!(har["timings"].to_string(), r#"{"receive":2.0,"send":1.0,"wait":2.0}"#);
        assert_eq!((har["time"].as_f64(), har.get("_ended"), har.get("_lost")), (Some(5.0), None, None));
        assert_eq!(har["request"]["queryString"][1].to_string(), r#"{"name":"b","value":""}"#);
    }

    #[test]
    fn bodies_can_be_left_out_and_are_counted_then() {
        let mut exchange = after(vec![
            ProxyEvent::Part(Side::Request, b"{}".to_vec()),
            answered(STREAM),
            ProxyEvent::Lost(Side::Response, 7),
        ]);
        let har = written(&mut exchange, false);
        assert!(har["request"]["postData"].get("text").is_none() && !exchange.is_over());
        assert_eq!((&har["_lost"], &har["response"]["content"]["size"]), (&9.into(), &7.into()));
    }
}
