//! Logs in which a line says, in text before a message, who sent it: what their readers share.
//!
//! A log is a trait of a few lines: what a line of it is, and, where it marks sessions, at which line another one begins.
//! Memory: a line, and what the log remembers.

use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use crate::lines::{self, Faulty, Line, Parse};
use std::borrow::Cow;
use std::marker::PhantomData;
use transcript::json::{MemberIndex, Scanner};
use transcript::message::{Message, Refusal};
use transcript::rejection::Code;
use transcript::session::{Content, Entry, MissingBody, Noise, ServerEnd, Side, Sink};

/// One kind of log.
pub(crate) trait Log: Default {
    /// Whose line it is, in a refusal: "VS Code's log".
    const NAME: &'static str;

    /// Whether a file without any line is a log that tells of nothing.
    const MAY_BE_EMPTY: bool = false;

    /// What a line is, which has no NUL.
    fn said(line: Line<'_>) -> Said<'_>;

    /// Whether the line behind it may say that this message is only announced.
    fn may_wait(_: &Said<'_>) -> bool {
        false
    }

    /// Looks at each line in order, and takes off what is said of others than the server of the file.
    ///
    /// # Errors
    /// Where another session begins than the one of the file, and the options do not pass over it.
    fn follow(&mut self, _: Line<'_>, _: &mut Said<'_>, _: ReadOptions) -> Result<(), Refusal> {
        Ok(())
    }
}

/// What a line of a log is.
pub(crate) enum Said<'a> {
    /// A message, or what stands in its place, from byte `at` on.
    Message {
        side: Side,
        time: Option<i64>,
        at: usize,
        message: Result<Message<'a>, (Refusal, &'a str)>,
    },
    /// A message of which the log has a part only: whose (HAR-MISSING).
    Shortened(Side, Option<i64>, &'static str),
    /// What the log says that the server wrote where a message belongs, and what it was, or what the client said of it.
    Printed(Option<i64>, Cow<'a, str>),
    /// That the client starts the server.
    Started(Option<i64>),
    /// How the server ended.
    Ended(Option<i64>, ServerEnd),
    /// That the message before it is only announced: it waits for something, and is in the log again when it is sent.
    HeldBack,
    /// A line of anything else.
    Else(Option<i64>),
    /// No line of its own: it goes on with the one before.
    Continued,
    Wrong(Refusal),
}

impl<'a> Said<'a> {
    /// The message that stands from byte `at` of a line on. Behind it there may be only what `may_follow` allows.
    pub(crate) fn message(
        text: &'a str,
        at: usize,
        (side, time): (Side, Option<i64>),
        may_follow: fn(&str) -> bool,
    ) -> Self {
        Self::Message { side, time, at, message: message(text, at, may_follow) }
    }

    /// What is wrong with a line.
    pub(crate) fn wrong(code: Code, clause: &'static str, at: usize, message: &str) -> Self {
        Self::Wrong(Refusal { code, clause, at, message: message.to_owned() })
    }

    /// A last line that has no end, and of which nothing says that it is whole.
    pub(crate) fn cut_off(line: Line<'_>) -> Self {
        let why = "the last line has no end and may have been cut off; end it if the log is whole";
        Self::wrong(Code::Truncated, "SRV-BYTES", line.text.len(), why)
    }
}

/// The message, or what is wrong and with which text: what may follow does not belong to a message that is refused.
fn message(text: &str, at: usize, may_follow: fn(&str) -> bool) -> Result<Message<'_>, (Refusal, &str)> {
    let mut scanner = Scanner::starting(text, at);
    let held = lines::held(text, &mut scanner).map_err(|why| (why, &text[at..]))?;
    let end = scanner.at();
    if !may_follow(text[end..].trim_start()) {
        scanner.end().map_err(|why| (why.into(), &text[at..]))?;
    }
    held.map_err(|(why, _): Faulty<'_>| (why, &text[at..end]))
}

/// Hands on what a log says.
///
/// # Errors
/// Those of the input, what the options do not pass over, and what the sink returns.
pub(crate) fn read<L: Log>(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    let mut log = L::default();
    let mut begun = false;
    let mut waiting: Option<Waiting> = None;
    let read = lines::each::<Lines<L>>(input, |line, mut said, _| {
        let is_first = !std::mem::replace(&mut begun, true);
        if let Some(before) = waiting.take() {
            before.hand::<L>(matches!(said, Said::HeldBack), options, sink)?;
        }
        log.follow(line, &mut said, options).map_err(|refusal| line.refuse(refusal, ""))?;
        if L::may_wait(&said) {
            waiting = Some(Waiting::new(line));
            return Ok(());
        }
        hand::<L>((line, said), is_first, options, sink)
    });
    if let Some(last) = waiting {
        last.hand::<L>(false, options, sink)?;
    }
    read?;
    match begun || L::MAY_BE_EMPTY {
        true => Ok(()),
        false => Err(input.truncated(&format!("a line of {}", L::NAME))),
    }
}

/// Hands on what a line says.
fn hand<L: Log>(
    (line, said): (Line<'_>, Said<'_>),
    is_first: bool,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    match said {
        Said::Message { side, time, at, message } => {
            let shown = is_first.then_some(line.text);
            let entry =
                |content| Entry { time, side: Some(side), line: shown, ..line.entry(at, "", content) };
            match message {
                Ok(message) => line.give(entry(Content::Message(message)), sink),
                Err((why, text)) => {
                    let why = why.on_a_line(line.open_ended);
                    line.fault((why, ""), text, entry(Content::Empty), options, sink)
                }
            }
        }
        Said::Shortened(side, time, whose) => {
            let entry = line.entry(0, "", Content::Missing(MissingBody { whose, coded: false, cut: false }));
            line.give(Entry { time, side: Some(side), ..entry }, sink)
        }
        // The log itself is sound, so that it is read on whatever is tolerated.
        Said::Printed(time, text) => {
            let message =
                format!("{} says that the server wrote what is not JSON: {}", L::NAME, brief(&text));
            let why = Refusal { code: Code::InvalidJson, clause: "RPL-NOISE", at: 0, message };
            let entry = line.entry(0, "", Content::Noise(Noise { why, text }));
            line.give(Entry { time, side: Some(Side::Server), ..entry }, sink)
        }
        Said::Ended(time, end) => {
            line.give(Entry { time, line: Some(line.text), ..line.entry(0, "", Content::Ended(end)) }, sink)
        }
        Said::Started(time) => {
            line.give(Entry { time, line: Some(line.text), ..line.entry(0, "", Content::Started) }, sink)
        }
        Said::HeldBack => hand::<L>((line, Said::Else(None)), is_first, options, sink),
        Said::Else(time) => {
            let content = Content::Skipped("a line of the log that is not a message".into());
            line.give(Entry { time, line: Some(line.text), ..line.entry(0, "", content) }, sink)
        }
        Said::Continued if is_first => {
            let message = format!("the file does not begin with a line of {}", L::NAME);
            let code = if line.open_ended { Code::Truncated } else { Code::InvalidJson };
            Err(line.refuse(Refusal { code, clause: "SRV-BYTES", at: 0, message }, ""))
        }
        Said::Continued => {
            let content = Content::Skipped("a line that continues the one before".into());
            line.give(line.entry(0, "", content), sink)
        }
        Said::Wrong(why) => {
            line.fault((why, ""), line.text, line.entry(0, "", Content::Empty), options, sink)
        }
    }
}

/// A line that is handed on with the next one.
struct Waiting {
    text: String,
    number: u64,
    offset: u64,
    open_ended: bool,
}

impl Waiting {
    fn new(line: Line<'_>) -> Self {
        let Line { text, number, offset, open_ended } = line;
        Self { text: text.to_owned(), number, offset, open_ended }
    }

    fn hand<L: Log>(
        &self,
        is_announced: bool,
        options: ReadOptions,
        sink: &mut Sink<'_>,
    ) -> Result<(), ReadError> {
        let Self { number, offset, open_ended, .. } = *self;
        let line = Line { text: &self.text, number, offset, open_ended };
        let said = if is_announced { Said::Else(None) } else { L::said(line) };
        hand::<L>((line, said), false, options, sink)
    }
}

struct Lines<L>(PhantomData<L>);

impl<L: Log> Parse for Lines<L> {
    type Parsed<'a> = Said<'a>;

    fn parse<'a>(line: Line<'a>, _index: &mut Vec<MemberIndex>) -> Said<'a> {
        match memchr::memchr(0, line.text.as_bytes()) {
            Some(at) => Said::wrong(
                Code::InvalidJson,
                "SRV-BYTES",
                at,
                "a NUL character is not allowed in text or in JSON",
            ),
            None => L::said(line),
        }
    }
}

/// A text that is quoted, as far as one line of a report has room for it.
fn brief(text: &str) -> String {
    let mut rest = text.trim().chars();
    let brief: String = rest.by_ref().take(120).map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("`{brief}{}`", if rest.next().is_some() { "…" } else { "" })
}

/// Whether a line begins like this, where a `0` stands for any digit.
pub(crate) fn begins(line: &str, form: &str) -> bool {
    let fits = |(&byte, &form): (&u8, &u8)| if form == b'0' { byte.is_ascii_digit() } else { byte == form };
    line.len() >= form.len() && line.as_bytes().iter().zip(form.as_bytes()).all(fits)
}
