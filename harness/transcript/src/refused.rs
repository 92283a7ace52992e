//! Requests that were turned away, left out of a session together with what turned them away.
//!
//! The same script meets refusals over one transport and none over another: a token is missing, a server has no stream of its own,
//! a client probes for a revision that the server does not speak. What is left out:
//!
//! - an exchange that HTTP refused with a status from 300 to 499 and without an answer to its request,
//! - `server/discover` and its answer, where that is an error.
//!
//! Memory: the entries between a request and what decides about it, up to [`HELD`].

use crate::entry_buffer::EntryBuffer;
use crate::meaning::EventKind;
use crate::session::{Carrier, Content, Entry, SinkError};

/// The most entries that are held; then a probe that nobody has answered stays, and an open exchange that was refused does not.
pub const HELD: usize = 1024;

/// The request by which a client finds out which revisions a server speaks.
const PROBE: &str = "server/discover";

/// Passes on the entries of a session, those of refused requests without their messages.
#[derive(Debug, Default)]
pub struct RefusalFilter {
    held: EntryBuffer,
    notes: Vec<Note>,
    open: Vec<Candidate>,
    left_out: u64,
}

/// What takes the entries that are passed on.
pub type Next<'n> = dyn FnMut(&Entry<'_>) -> Result<(), SinkError> + 'n;

/// What is known of an entry that is held.
#[derive(Debug)]
struct Note {
    exchange: Option<u64>,
    dropped: bool,
}

/// What may be left out, and is not decided.
#[derive(Debug)]
enum Candidate {
    /// An exchange with the status of a refusal, and the ids of its requests.
    Exchange { number: u64, timed: bool, asked: Vec<Vec<u8>> },
    /// A message of an envelope; the entry behind it tells what became of it.
    Post { at: usize, id: Option<Vec<u8>> },
    /// A probe.
    Probe { at: usize, id: Vec<u8> },
}

/// Whether a status says that the request was turned away.
#[must_use]
pub fn is_refusal(status: Option<u16>) -> bool {
    matches!(status, Some(300..=499))
}

/// The status with which HTTP answers, as far as this entry tells it.
#[must_use]
pub fn status(entry: &Entry<'_>) -> Option<u16> {
    match &entry.content {
        Content::Exchange(exchange) => exchange.status,
        _ => entry.context.filter(|_| entry.carrier == Carrier::Response)?.status,
    }
}

impl RefusalFilter {
    /// Takes the next entry, and passes on what is decided.
    ///
    /// # Errors
    /// Those of `next`.
    pub fn take(&mut self, entry: &Entry<'_>, next: &mut Next<'_>) -> Result<(), SinkError> {
        let at = self.notes.len();
        self.held.push(entry);
        self.notes.push(Note { exchange: entry.exchange, dropped: false });
        self.decide_post(entry, at);
        match &entry.content {
            Content::Exchange(exchange) => {
                self.end(|_, timed| !timed);
                if let Some(number) = entry.exchange.filter(|_| is_refusal(exchange.status)) {
                    self.open.push(Candidate::Exchange { number, timed: exchange.timed, asked: Vec::new() });
                }
            }
            Content::ExchangeEnd => self.end(|number, _| Some(number) == entry.exchange),
            Content::Message(_) => self.message(entry, at),
            _ => {}
        }
        if self.notes.len() >= HELD {
            self.end(|_, _| true);
            self.open.clear();
        }
        if self.open.is_empty() { self.pass_on(next) } else { Ok(()) }
    }

    /// The session is over: passes on the rest, and says how many requests and exchanges were left out.
    ///
    /// # Errors
    /// Those of `next`.
    pub fn finish(mut self, next: &mut Next<'_>) -> Result<u64, SinkError> {
        self.end(|_, _| true);
        self.pass_on(next)?;
        Ok(self.left_out)
    }

    /// Leaves out the refused exchanges of which nothing more comes.
    fn end(&mut self, is_over: impl Fn(u64, bool) -> bool) {
        let notes = &mut self.notes;
        let before = self.open.len();
        self.open.retain(|candidate| match candidate {
            Candidate::Exchange { number, timed, .. } if is_over(*number, *timed) => {
                let own = notes.iter_mut().filter(|note| note.exchange == Some(*number));
                own.for_each(|note| note.dropped = true);
                false
            }
            _ => true,
        });
        self.left_out += (before - self.open.len()) as u64;
        self.open.retain(|candidate| !matches!(candidate, Candidate::Probe { at, .. } if notes[*at].dropped));
    }

    /// What stands behind a message of an envelope is its answer, or the message was accepted.
    fn decide_post(&mut self, entry: &Entry<'_>, at: usize) {
        let id = |entry: &Entry<'_>| Some(entry.message()?.id().key()?.into_owned());
        let refused = entry.exchange.is_none() && is_refusal(status(entry));
        let post = self.open.iter().position(|candidate| matches!(candidate, Candidate::Post { .. }));
        let post = post.map(|post| self.open.remove(post));
        match post {
            Some(Candidate::Post { at: asked, id: wanted }) if refused => {
                if wanted.is_some() && id(entry) == wanted {
                    return;
                }
                self.drop_both(asked, at);
            }
            _ if refused && entry.message().is_some() && id(entry).is_none() => {
                self.notes[at].dropped = true;
                self.left_out += 1;
            }
            _ => {}
        }
    }

    fn message(&mut self, entry: &Entry<'_>, at: usize) {
        let Some(message) = entry.message() else { return };
        let id = message.id().key().map(std::borrow::Cow::into_owned);
        let kind = EventKind::new(message);
        if matches!(kind, EventKind::Result | EventKind::Error) {
            let answered = |candidate: &Candidate| match candidate {
                Candidate::Exchange { number, asked, .. } => {
                    entry.exchange == Some(*number) && id.as_ref().is_some_and(|id| asked.contains(id))
                }
                Candidate::Probe { id: asked, .. } => Some(asked) == id.as_ref(),
                Candidate::Post { .. } => false,
            };
            let probe = self.open.iter().find_map(|candidate| match candidate {
                Candidate::Probe { at, .. } if answered(candidate) => Some(*at),
                _ => None,
            });
            self.open.retain(|candidate| !answered(candidate));
            if let Some(asked) = probe.filter(|_| kind == EventKind::Error) {
                self.drop_both(asked, at);
            }
            return;
        }
        for candidate in &mut self.open {
            if let Candidate::Exchange { number, asked, .. } = candidate
                && entry.exchange == Some(*number)
            {
                asked.extend(id.clone());
            }
        }
        if entry.exchange.is_none() && entry.carrier == Carrier::Request {
            self.open.push(Candidate::Post { at, id: id.clone() });
        }
        if let Some(id) = id.filter(|_| message.method().is_some_and(|method| method.is(PROBE))) {
            self.open.push(Candidate::Probe { at, id });
        }
    }

    fn drop_both(&mut self, asked: usize, answer: usize) {
        self.notes[asked].dropped = true;
        self.notes[answer].dropped = true;
        self.left_out += 1;
        let notes = &self.notes;
        self.open.retain(|candidate| !matches!(candidate, Candidate::Probe { at, .. } if notes[*at].dropped));
    }

    fn pass_on(&mut self, next: &mut Next<'_>) -> Result<(), SinkError> {
        let (held, notes) = (std::mem::take(&mut self.held), std::mem::take(&mut self.notes));
        let (mut notes, mut result) = (notes.iter(), Ok(()));
        held.each(|entry| {
            let dropped = notes.next().is_some_and(|note| note.dropped) && entry.message().is_some();
            if result.is_ok() {
                // Its status and its challenge stay.
                result = match dropped {
                    true => next(&Entry { content: Content::Empty, ..entry.clone() }),
                    false => next(entry),
                };
            }
        });
        result
    }
}

#[cfg(test)]
mod tests {
    use super::RefusalFilter;
    use crate::json::Json;
    use crate::message::Message;
    use crate::session::{Carrier, Content, Context, Entry, Exchange, Location, Side};

    const PROBE: &str = r#"{"jsonrpc":"2.0","id":"p","method":"server/discover"}"#;
    const ASK: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#;
    const DONE: &str = r#"{"jsonrpc":"2.0","id":0,"result":{}}"#;
    const NO: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#;
    const ERROR: &str = r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no"}}"#;

    /// What is passed on of messages in exchanges: the text of each, by status and texts.
    fn passed<'t>(exchanges: &[(u16, &[&'t str])], timed: bool) -> (Vec<&'t str>, u64) {
        let (mut filter, mut seen) = (RefusalFilter::default(), Vec::new());
        let texts: Vec<&str> = exchanges.iter().flat_map(|(_, texts)| texts.iter().copied()).collect();
        let mut next = |entry: &Entry<'_>| {
            let text = entry.message().map(|message| message.text().to_owned());
            seen.extend(text.and_then(|text| texts.iter().copied().find(|it| *it == text)));
            Ok(())
        };
        for (number, (status, texts)) in (0..).zip(exchanges) {
            let exchange = Exchange { status: Some(*status), timed, ..Exchange::default() };
            let of = |content| Entry { exchange: Some(number), ..Entry::new(Location::default(), content) };
            filter.take(&of(Content::Exchange(&exchange)), &mut next).unwrap();
            for text in *texts {
                filter.take(&of(Content::Message(Message::parse(text).unwrap())), &mut next).unwrap();
            }
            if timed {
                filter.take(&of(Content::ExchangeEnd), &mut next).unwrap();
            }
        }
        let left_out = filter.finish(&mut next).unwrap();
        (seen, left_out)
    }

    #[test]
    fn an_exchange_that_http_refused_is_left_out_unless_its_request_is_answered() {
        for timed in [false, true] {
            let said = |exchanges: &[(u16, &[&'static str])]| passed(exchanges, timed);
            assert_eq!(said(&[(401, &[ASK]), (200, &[ASK, DONE])]), (vec![ASK, DONE], 1));
            assert_eq!(said(&[(200, &[ASK, DONE]), (405, &[NO])]), (vec![ASK, DONE], 1), "a GET");
            assert_eq!(said(&[(404, &[ASK, ERROR])]), (vec![ASK, ERROR], 0), "an answer over HTTP");
            assert_eq!(said(&[(400, &[PROBE, NO]), (200, &[ASK, DONE])]), (vec![ASK, DONE], 1));
            assert_eq!(said(&[(500, &[ASK, NO])]), (vec![ASK, NO], 0), "a failure is not a refusal");
        }
    }

    #[test]
    fn a_probe_that_gets_an_error_is_left_out_over_any_transport() {
        let error = ERROR.replace("\"id\":0", "\"id\":\"p\"");
        let done = DONE.replace("\"id\":0", "\"id\":\"p\"");
        for (lines, kept) in [
            (vec![PROBE, &error, ASK, DONE], vec![ASK, DONE]),
            (vec![PROBE, ASK, &error, DONE], vec![ASK, DONE]),
            (vec![PROBE, &done, ASK, DONE], vec![PROBE, &done, ASK, DONE]),
            (vec![PROBE, ASK, DONE], vec![PROBE, ASK, DONE]),
        ] {
            let (mut filter, mut seen) = (RefusalFilter::default(), Vec::new());
            let mut next = |entry: &Entry<'_>| {
                seen.extend(entry.message().map(|message| message.text().to_owned()));
                Ok(())
            };
            for line in &lines {
                let entry = Entry::new(Location::default(), Content::Message(Message::parse(line).unwrap()));
                filter.take(&entry, &mut next).unwrap();
            }
            filter.finish(&mut next).unwrap();
            assert_eq!(seen, kept, "{lines:?}");
        }
    }

    #[test]
    fn in_an_envelope_the_refusal_stands_behind_the_request() {
        let refusal = Context { text: Json::parse("{}").unwrap(), status: Some(401), headers: Vec::new() };
        let message = |text: &'static str| Content::Message(Message::parse(text).unwrap());
        let asked = |text| Entry {
            side: Some(Side::Client),
            carrier: Carrier::Request,
            ..Entry::new(Location::default(), message(text))
        };
        let said = |content, context| Entry {
            side: Some(Side::Server),
            carrier: Carrier::Response,
            context,
            ..Entry::new(Location::default(), content)
        };
        for (answer, kept) in [(Content::Empty, 2), (message(NO), 2), (message(ERROR), 4)] {
            let (mut filter, mut seen, mut refusals) = (RefusalFilter::default(), 0, 0);
            let mut next = |entry: &Entry<'_>| {
                seen += usize::from(entry.message().is_some());
                refusals += usize::from(super::status(entry) == Some(401));
                Ok(())
            };
            for entry in [asked(ASK), said(answer, Some(&refusal)), asked(ASK), said(message(DONE), None)] {
                filter.take(&entry, &mut next).unwrap();
            }
            filter.finish(&mut next).unwrap();
            assert_eq!((seen, refusals), (kept, 1), "the status stays");
        }
    }
}
