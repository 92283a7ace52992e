//! Reading lines of mcp-rec.

use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use crate::lines::{self, Faulty, Line};
use transcript::json::{Json, JsonString, MemberIndex, Scanner};
use transcript::message::{Message, Refusal};
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Side, Sink};

/// How the recorder writes who sent a message.
pub(super) const DIRECTIONS: [(&str, Side); 2] =
    [("client->server", Side::Client), ("server->client", Side::Server)];

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    lines::each::<Lines>(input, |line, parts, _| {
        let said = match parts.and_then(Said::of) {
            Ok(said) => said,
            Err((refusal, pointer)) => {
                let refusal = refusal.on_a_line(line.open_ended);
                return line.fault(
                    (refusal, pointer),
                    line.text,
                    line.entry(0, "", Content::Empty),
                    options,
                    sink,
                );
            }
        };
        let entry = |content| Entry {
            time: said.time,
            side: Some(said.side),
            line: Some(line.text),
            ..line.entry(said.at, "/msg", content)
        };
        match said.message {
            Ok(message) => line.give(entry(Content::Message(message)), sink),
            Err((refusal, value)) => {
                line.fault((refusal, "/msg"), value.text(), entry(Content::Empty), options, sink)
            }
        }
    })
}

/// What is wrong with a line, and where in its value.
type Wrong = (Refusal, &'static str);

struct Lines;

impl lines::Parse for Lines {
    type Parsed<'a> = Result<Parts<'a>, Wrong>;

    fn parse<'a>(line: Line<'a>, _index: &mut Vec<MemberIndex>) -> Self::Parsed<'a> {
        Parts::of(line.text).map_err(|refusal| (refusal, ""))
    }
}

/// A line, taken apart.
#[derive(Default)]
struct Parts<'a> {
    ts: Option<Json<'a>>,
    dir: Option<(usize, Json<'a>)>,
    msg: Option<(usize, Result<Message<'a>, Faulty<'a>>)>,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Result<Self, Refusal> {
        let mut parts = Self::default();
        let mut twice = None;
        lines::members(text, "a recording", |key_at, key, scanner| {
            if parts.member(text, key, scanner)? {
                twice.get_or_insert(key_at);
            }
            Ok(())
        })?;
        match twice {
            Some(at) => {
                let said = "`dir` or `msg` appears twice, and readers differ on which one counts";
                Err(Refusal { clause: "SRV-TWICE", ..wrong(Code::AmbiguousMember, at, said) })
            }
            None => Ok(parts),
        }
    }

    /// Takes a member; true where one that decides the meaning was there before.
    fn member(
        &mut self,
        text: &'a str,
        key: JsonString<'a>,
        scanner: &mut Scanner<'a>,
    ) -> Result<bool, Refusal> {
        let at = scanner.at();
        Ok(match () {
            () if key.is("msg") => self.msg.replace((at, lines::held(text, scanner)?)).is_some(),
            () if key.is("dir") => self.dir.replace((at, scanner.take()?)).is_some(),
            () if key.is("ts") => {
                self.ts = Some(scanner.take()?);
                false
            }
            () => {
                scanner.value()?;
                false
            }
        })
    }
}

/// What a line says, and who said it when.
struct Said<'a> {
    time: Option<i64>,
    side: Side,
    at: usize,
    message: Result<Message<'a>, Faulty<'a>>,
}

impl<'a> Said<'a> {
    fn of(parts: Parts<'a>) -> Result<Self, Wrong> {
        let (at, message, (dir_at, dir)) = match (parts.msg, parts.dir) {
            (Some((at, message)), Some(dir)) => (at, message, dir),
            (None, None) => {
                let said = "a line of a recording has `dir` and `msg`; this one has neither";
                return Err((Refusal { clause: "JRP-LINE", ..wrong(Code::NotAMessage, 0, said) }, ""));
            }
            (None, _) => return Err((wrong(Code::MissingRaw, 0, "a line without `msg`"), "")),
            (_, None) => return Err((wrong(Code::MissingDir, 0, "a line without `dir`"), "")),
        };
        let side = dir.as_text().and_then(|dir| DIRECTIONS.iter().find(|(name, _)| dir.is(name)));
        let Some(&(_, side)) = side else {
            let said = "`dir` is \"client->server\" or \"server->client\"";
            return Err((wrong(Code::MissingDir, dir_at, said), "/dir"));
        };
        Ok(Self { time: parts.ts.and_then(milliseconds), side, at, message })
    }
}

/// Seconds since the Unix epoch, as Python prints a float, in milliseconds.
fn milliseconds(seconds: Json<'_>) -> Option<i64> {
    let seconds: f64 = seconds.as_number()?.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "a time beyond all years becomes the last there is")]
    Some((seconds * 1e3).round() as i64)
}

fn wrong(code: Code, at: usize, message: &str) -> Refusal {
    Refusal { code, clause: "SRV-BYTES", at, message: message.to_owned() }
}
