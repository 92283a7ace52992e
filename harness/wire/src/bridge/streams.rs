//! What a client gets: the answers to its requests, and events on streams, which are kept for a while after they were
//! read, since a stream may break and be resumed behind the last event that the client saw.
//!
//! Memory of each client: [`KEPT`] events or [`ROOM`] bytes, whichever is less, and one message.

use std::collections::{BTreeMap, VecDeque};
use std::task::{Context, Poll, Waker};

/// How many events of a client are kept, read or not.
const KEPT: usize = 1_000;

/// How many bytes of events of a client are kept, and one message more.
const ROOM: usize = 8 << 20;

/// With how many events to read, or bytes, on one stream, the server waits for its reader.
const BEHIND: (usize, usize) = (KEPT / 4, ROOM / 4);

/// The stream of a GET, for what belongs to no request.
pub(super) const LISTENING: u64 = 0;

/// The streams of a client.
#[derive(Debug)]
pub(super) struct Streams {
    /// By their number.
    all: BTreeMap<u64, Stream>,
    next: u64,
    /// The events of all streams, oldest first.
    kept: VecDeque<NumberedEvent>,
    /// How many bytes they have.
    bytes: usize,
    /// How many were let go that nobody had read.
    lost: u64,
}

#[derive(Debug, Default)]
struct Stream {
    /// How many events there have been, which number them from 1.
    said: u64,
    /// How many have been read.
    read: u64,
    /// Who reads, by a number that is given once; 0 is nobody.
    reader: u64,
    readers: u64,
    waker: Option<Waker>,
    /// Nothing comes behind the last event.
    whole: bool,
    /// Several answers are awaited, which are events even if only one comes.
    several: bool,
}

#[derive(Debug)]
struct NumberedEvent {
    stream: u64,
    number: u64,
    text: String,
}

/// What the answer to a request is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// One message.
    Message(String),
    /// A stream of events, of this number.
    Stream(u64),
    /// There is none: the session is over.
    Gone,
}

/// What a reader of a stream gets.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NextEvent {
    /// An event with its number.
    Event(u64, String),
    /// Nothing more comes, or somebody else reads it now.
    End,
    /// The next event is not kept any more.
    Cut,
}

impl Streams {
    /// Only the stream of a GET, which is open to the end.
    pub(super) fn new() -> Self {
        let all = BTreeMap::from([(LISTENING, Stream::default())]);
        Self { all, next: 1, kept: VecDeque::new(), bytes: 0, lost: 0 }
    }

    /// A stream for the answer to a request, or to `several`; its number.
    pub(super) fn open(&mut self, several: bool) -> u64 {
        let number = self.next;
        self.next += 1;
        self.all.insert(number, Stream { several, ..Stream::default() });
        number
    }

    /// Adds a message to a stream, and lets go of the oldest ones that there is no room for.
    pub(super) fn add(&mut self, number: u64, text: &str) {
        let Some(stream) = self.all.get_mut(&number) else { return };
        stream.said += 1;
        self.kept.push_back(NumberedEvent { stream: number, number: stream.said, text: text.to_owned() });
        self.bytes += text.len();
        stream.wake();
        while self.kept.len() > 1 && (self.kept.len() > KEPT || self.bytes > ROOM) {
            self.let_go_of_oldest();
        }
    }

    /// Nothing more comes on a stream.
    pub(super) fn finish(&mut self, number: u64) {
        if let Some(stream) = self.all.get_mut(&number) {
            stream.whole = true;
            stream.wake();
        }
    }

    /// Nothing more comes on any.
    pub(super) fn finish_all(&mut self) {
        let numbers: Vec<u64> = self.all.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.finish(number));
    }

    /// The answer to the request of a stream, as soon as it shows what it is.
    pub(super) fn poll_answer(&mut self, number: u64, context: &Context<'_>) -> Poll<Answer> {
        let Some(stream) = self.all.get_mut(&number) else { return Poll::Ready(Answer::Gone) };
        if stream.whole && stream.said == 1 && !stream.several {
            self.all.remove(&number);
            let at = self.kept.iter().position(|event| event.stream == number);
            return Poll::Ready(at.and_then(|at| self.kept.remove(at)).map_or(Answer::Gone, |event| {
                self.bytes -= event.text.len();
                Answer::Message(event.text)
            }));
        }
        if stream.said > 0 || stream.whole {
            return Poll::Ready(Answer::Stream(number));
        }
        stream.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// A reader comes to a stream, in place of the one before: what is not read yet, or what came
    /// behind this event. None where the event, or one behind it, is not kept.
    pub(super) fn attach(&mut self, number: u64, behind: Option<u64>) -> Option<u64> {
        let stream = self.all.get_mut(&number)?;
        if let Some(behind) = behind {
            let first = self.kept.iter().find(|event| event.stream == number);
            if behind > stream.said || behind + 1 < first.map_or(stream.said + 1, |event| event.number) {
                return None;
            }
            stream.read = behind;
        }
        stream.readers += 1;
        stream.reader = stream.readers;
        stream.wake();
        Some(stream.reader)
    }

    /// This reader went away.
    pub(super) fn detach(&mut self, number: u64, reader: u64) {
        if let Some(stream) = self.all.get_mut(&number).filter(|stream| stream.reader == reader) {
            stream.reader = 0;
        }
    }

    /// The next event for this reader.
    pub(super) fn poll_next(&mut self, number: u64, reader: u64, context: &Context<'_>) -> Poll<NextEvent> {
        let Some(stream) = self.all.get_mut(&number).filter(|stream| stream.reader == reader) else {
            return Poll::Ready(NextEvent::End);
        };
        let next = stream.read + 1;
        if next > stream.said {
            if stream.whole {
                return Poll::Ready(NextEvent::End);
            }
            stream.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        let event = self.kept.iter().find(|event| event.stream == number && event.number == next);
        Poll::Ready(event.map_or(NextEvent::Cut, |event| {
            stream.read = next;
            NextEvent::Event(next, event.text.clone())
        }))
    }

    /// Whether somebody reads a stream, and is so far behind that the server has to wait.
    pub(super) fn is_behind(&self, number: u64) -> bool {
        let is_read = self.all.get(&number).is_some_and(|stream| stream.reader != 0);
        let unread = self.unread_events().filter(|event| event.stream == number);
        let (events, bytes) = unread.fold((0, 0), |(events, bytes), it| (events + 1, bytes + it.text.len()));
        is_read && (events > BEHIND.0 || bytes > BEHIND.1)
    }

    /// Ends the reading of a stream by a reader that is too slow. What is not read is kept as far as there is room.
    pub(super) fn cut(&mut self, number: u64) {
        if let Some(stream) = self.all.get_mut(&number) {
            stream.reader = 0;
            stream.wake();
        }
    }

    /// Whether somebody reads, or a request waits for its answer.
    pub(super) fn is_busy(&self) -> bool {
        self.all.iter().any(|(number, stream)| stream.reader != 0 || *number != LISTENING && !stream.whole)
    }

    /// How many events reached nobody.
    pub(super) fn unread(&self) -> u64 {
        self.lost + self.unread_events().count() as u64
    }

    fn unread_events(&self) -> impl Iterator<Item = &NumberedEvent> {
        let is_unread =
            |event: &&NumberedEvent| self.all.get(&event.stream).is_some_and(|it| event.number > it.read);
        self.kept.iter().filter(is_unread)
    }

    fn let_go_of_oldest(&mut self) {
        let Some(event) = self.kept.pop_front() else { return };
        self.bytes -= event.text.len();
        let Some(stream) = self.all.get_mut(&event.stream) else { return };
        if event.number > stream.read {
            self.lost += 1;
            stream.wake();
        }
        let is_last = stream.said == event.number;
        if stream.whole && is_last && stream.reader == 0 {
            self.all.remove(&event.stream);
        }
    }
}

impl Stream {
    fn wake(&mut self) {
        self.waker.take().into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, KEPT, LISTENING, NextEvent, ROOM, Streams};
    use std::task::{Context, Poll, Waker};

    fn context() -> Context<'static> {
        Context::from_waker(Waker::noop())
    }

    fn next(streams: &mut Streams, number: u64, reader: u64) -> Option<NextEvent> {
        match streams.poll_next(number, reader, &context()) {
            Poll::Ready(next) => Some(next),
            Poll::Pending => None,
        }
    }

    fn event(number: u64, text: &str) -> Option<NextEvent> {
        Some(NextEvent::Event(number, text.to_owned()))
    }

    #[test]
    fn one_answer_is_a_message_and_anything_before_it_makes_a_stream() {
        let mut streams = Streams::new();
        let plain = streams.open(false);
        assert_eq!(streams.poll_answer(plain, &context()), Poll::Pending);
        streams.add(plain, "answer");
        streams.finish(plain);
        assert_eq!(streams.poll_answer(plain, &context()), Poll::Ready(Answer::Message("answer".to_owned())));
        assert_eq!(streams.poll_answer(plain, &context()), Poll::Ready(Answer::Gone), "it is not kept");
        let progress = streams.open(false);
        streams.add(progress, "progress");
        assert_eq!(streams.poll_answer(progress, &context()), Poll::Ready(Answer::Stream(progress)));
        let several = streams.open(true);
        streams.add(several, "one of one");
        streams.finish(several);
        assert_eq!(streams.poll_answer(several, &context()), Poll::Ready(Answer::Stream(several)));
        assert_eq!((streams.kept.len(), streams.bytes), (2, "progressone of one".len()));
    }

    #[test]
    fn a_stream_is_resumed_behind_an_event_by_one_reader_at_a_time() {
        let mut streams = Streams::new();
        let number = streams.open(false);
        ["a", "b", "c"].iter().for_each(|text| streams.add(number, text));
        let first = streams.attach(number, None).unwrap();
        assert_eq!(next(&mut streams, number, first), event(1, "a"));
        assert_eq!(next(&mut streams, number, first), event(2, "b"));
        let second = streams.attach(number, Some(1)).unwrap();
        assert_eq!(next(&mut streams, number, first), Some(NextEvent::End), "somebody else reads");
        assert_eq!(next(&mut streams, number, second), event(2, "b"));
        assert_eq!(next(&mut streams, number, second), event(3, "c"));
        assert_eq!(next(&mut streams, number, second), None);
        streams.detach(number, first);
        streams.finish(number);
        assert_eq!(next(&mut streams, number, second), Some(NextEvent::End));
        assert_eq!(streams.attach(number, Some(4)), None, "there was no such event");
        let third = streams.attach(number, Some(0)).unwrap();
        assert_eq!(next(&mut streams, number, third), event(1, "a"), "what is over is kept, too");
    }

    #[test]
    fn the_oldest_events_of_a_client_are_let_go_and_counted_where_nobody_read_them() {
        let mut streams = Streams::new();
        let number = streams.open(false);
        streams.add(number, "read");
        let reader = streams.attach(number, None).unwrap();
        assert_eq!(next(&mut streams, number, reader), event(1, "read"));
        (0..KEPT + 1).for_each(|_| streams.add(LISTENING, "x"));
        assert_eq!((streams.kept.len(), streams.unread()), (KEPT, KEPT as u64 + 1));
        assert_eq!(streams.attach(number, Some(0)), None, "an event behind it is not kept");
        assert!(streams.attach(number, Some(1)).is_some());
        let mut streams = Streams::new();
        let long = "x".repeat(ROOM);
        (0..3).for_each(|_| streams.add(LISTENING, &long));
        assert_eq!((streams.kept.len(), streams.bytes, streams.lost), (1, ROOM, 2), "one message has room");
        let reader = streams.attach(LISTENING, None).unwrap();
        assert_eq!(next(&mut streams, LISTENING, reader), Some(NextEvent::Cut));
    }

    #[test]
    fn the_server_waits_for_a_slow_reader_and_for_nobody_else() {
        let mut streams = Streams::new();
        (0..KEPT / 2).for_each(|_| streams.add(LISTENING, "x"));
        assert!(!streams.is_behind(LISTENING), "nobody reads");
        let reader = streams.attach(LISTENING, None).unwrap();
        assert!(streams.is_behind(LISTENING) && streams.is_busy());
        while next(&mut streams, LISTENING, reader).is_some() {}
        assert!(!streams.is_behind(LISTENING));
        streams.cut(LISTENING);
        assert_eq!(next(&mut streams, LISTENING, reader), Some(NextEvent::End));
        assert!(!streams.is_busy());
    }
}
