//! Bytes and text: what every frame must be before it can be a message.
//!
//! JSON as text, spelled names and digits included.

use crate::engine::{
    Family, FindingLocation, MARK, MessageKind, OnStep, RuleContext, SeenMessage, Trigger, Violation,
    holds_several, quoted,
};
use crate::rule::{Level, Rule};
use transcript::json::{Json, JsonString, Scanner, SyntaxError};
use transcript::rejection::Code;
use transcript::session::{Carrier, Content, Noise};

pub(super) const FAMILY: Family = Family {
    name: "encoding",
    title: "Encoding and framing",
    rules: &[&UTF8, &PARSE, &BOM, &TWICE, &UNSAFE],
    triggers: &[Trigger::All],
    visitor: || Box::new(OnStep(judge)),
};

pub(super) static UTF8: Rule = Rule {
    id: "enc.utf8",
    source: "basic/transports; RFC 8259, section 8.1",
    title: "Every byte is UTF-8, and no character was damaged on the way",
    why: "A recorder that splits a character between two reads writes U+FFFD or invalid bytes, although the wire was \
          right.",
    fix: "Record bytes, and decode only whole messages.",
    softened: Some("a note on U+FFFD, which a message may also hold for a reason of its own"),
    ..Rule::BLANK.recorder()
};

pub(super) static PARSE: Rule = Rule {
    id: "enc.json.parse",
    source: "basic/index#messages; RFC 8259, section 2",
    title: "What is sent as a message is one whole JSON value",
    why: "The receiver cannot tell what was meant, not even which request it answers.",
    fix: "Let a JSON library write the message, and send it in one piece. Log to stderr, and make libraries do so.",
    softened: Some("a warning where the data of an event is not even the beginning of a message"),
    ..Rule::BLANK
};

static BOM: Rule = Rule {
    id: "enc.json.bom",
    source: "RFC 8259, section 8.1",
    title: "No byte order mark comes before a message",
    why: "Most JSON parsers refuse it, so the message is lost although everything after the mark is right.",
    fix: "Write UTF-8 without a byte order mark.",
    ..Rule::BLANK.should()
};

static TWICE: Rule = Rule {
    id: "enc.json.duplicate-member",
    source: "RFC 8259, section 4",
    title: "No object has two members of the same name",
    why: "One reader takes the first and another the last, so a gateway may check one call and the server run \
          another. Some readers also take `Name` for `name`.",
    fix: "Write each name once; in the message and its params, do not repeat it in another case either.",
    ..Rule::BLANK.should()
};

static UNSAFE: Rule = Rule {
    id: "enc.json.unsafe-int",
    source: "RFC 8259, section 6",
    title: "Integers that name something are exact in a double",
    why: "JavaScript and many proxies read numbers as doubles: beyond 2^53 an id comes back as another one.",
    fix: "Use smaller numbers, or strings.",
    ..Rule::BLANK.should()
};

/// The largest integer below which a double misses none.
const LARGEST: u128 = (1 << 53) - 1;

/// Integers of fewer digits are smaller.
const DIGITS: usize = 16;

/// Whether U+FFFD stands in a text, which comes in the place of a character that was lost.
fn is_damaged(text: &str) -> bool {
    // Few texts have the byte that it begins with.
    memchr::memchr(0xef, text.as_bytes()).is_some_and(|at| text[at..].contains('\u{fffd}'))
}

/// What is wrong with a line that [`PARSE`] is about, which began there.
pub(super) fn broken_json(first: FindingLocation) -> Violation<'static> {
    Violation::new("the line begins like a message but is not JSON").at(first)
}

const MARKED: &str = "a byte order mark comes before the message";

fn judge(at: &RuleContext<'_>) {
    match (at.message, &at.entry.content) {
        (Some(message), _) => check_message(message, at),
        (None, Content::Noise(noise)) => fault(noise, at),
        (None, Content::Mark) => at.fail(&BOM, MARKED),
        (None, _) => wrapped(at),
    }
}

fn check_message(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    let text = message.raw.text();
    let wrong = "the message holds U+FFFD, which may stand for a character that was lost";
    at.check(&UTF8, !is_damaged(text), || Violation::new(wrong).only(Level::Info));
    at.pass(&PARSE);
    at.pass(&BOM);
    // Which names stand twice is looked for only where some may.
    let repeated = if message.raw.json().may_have_duplicates() { repeated(text) } else { Ok(None) };
    match repeated {
        Ok(Some(name)) => at.fail(&TWICE, name),
        Ok(None) | Err(_) => at.pass(&TWICE),
    }
    // A side that repeats the number which the other one chose has no choice.
    exact(message.raw.id_value().filter(|_| message.kind == MessageKind::Request), at);
    exact(message.meta("progressToken"), at);
}

/// Whether an integer that names something is exact in a double.
fn exact(value: Option<Json<'_>>, at: &RuleContext<'_>) {
    let Some((value, number)) = value.and_then(|value| Some((value, value.as_number()?))) else { return };
    let digits = number.strip_prefix('-').unwrap_or(number);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let safe = digits.len() < DIGITS || digits.parse::<u128>().is_ok_and(|number| number <= LARGEST);
        at.check(&UNSAFE, safe, || {
            Violation::new(format!("{number} is not exact in a double")).inside(value)
        });
    }
}

/// Something that was to be a message and is none. Lines are judged elsewhere: a line may be what a program printed.
fn fault(noise: &Noise<'_>, at: &RuleContext<'_>) {
    if at.facts.recording.kind.spoils(noise, at.entry) {
        return;
    }
    let text = Json::parse(&noise.text).ok().and_then(|value| value.as_text()?.to_str());
    if noise.text.starts_with(MARK) || text.is_some_and(|text| text.starts_with(MARK)) {
        return at.fail(&BOM, MARKED);
    }
    match noise.why.code {
        Code::AmbiguousMember => at.fail(&TWICE, noise.why.message.clone()),
        _ if at.facts.recording.kind.bare_lines || at.facts.recording.kind.trace => {}
        _ if at.facts.recording.kind.misquotes(noise) => {}
        Code::Truncated => {
            at.inconclusive(&PARSE, "the text ends too early, and the recorder may have cut it");
        }
        // The body is kept in bytes, which are those that were sent.
        Code::InvalidUtf8 if at.exchange.is_some() => at.fail(&PARSE, noise.why.message.clone()),
        Code::InvalidUtf8 => at.fail(&UTF8, noise.why.message.clone()),
        Code::InvalidJson | Code::BrokenData => {
            let ended = Json::parse(&noise.text).is_err_and(|fault| fault.ended);
            let cause = match at.entry.carrier {
                Carrier::Sse if ended => ", and the rest is in no `data:` line of the event",
                _ if holds_several(&noise.text) => "; it holds several messages, one after another",
                _ => "",
            };
            at.fail(&PARSE, format!("{}{cause}", noise.why.message));
        }
        _ => {}
    }
}

/// Text in an event that is to carry a message: a message that other text comes before, such as a second `data:`, or no JSON.
fn wrapped(at: &RuleContext<'_>) {
    let Some(data) = at.message_data() else { return };
    let behind = data.find('{').filter(|&begin| begin > 0).map(|begin| data.split_at(begin));
    if let Some((before, rest)) = behind
        && Json::parse(rest.trim_end()).is_ok_and(|value| value.member("jsonrpc").is_some())
    {
        let wrong = format!("the data is not JSON, since {} comes before the message", quoted(before.trim()));
        at.fail(&PARSE, wrong);
    } else if at.is_event_for_messages()
        && !data.trim().is_empty()
        // The stream may have been cut within a message.
        && Json::parse(data).is_err_and(|fault| !fault.ended)
    {
        let wrong = format!("the data of the event is {}, which is not JSON", quoted(data.trim()));
        at.fail(&PARSE, Violation::new(wrong).only(Level::Should));
    }
}

/// What is wrong with the names of the members of an object somewhere in `text`, if anything is.
fn repeated(text: &str) -> Result<Option<String>, SyntaxError> {
    let mut names: Vec<JsonString<'_>> = Vec::new();
    // Of each object or list that is open: what closes it, and where its names begin.
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut scanner = Scanner::new(text);
    scanner.space();
    loop {
        let begun = match scanner.peek() {
            Some(b'{') => scanner.open(b'}')?.then_some(b'}'),
            Some(b'[') => scanner.open(b']')?.then_some(b']'),
            _ => {
                scanner.value()?;
                None
            }
        };
        match begun {
            Some(close) => {
                open.push((close, names.len()));
                if close == b'}' {
                    names.push(scanner.key()?);
                }
            }
            None => loop {
                let Some(&(close, first)) = open.last() else { return Ok(None) };
                if scanner.more(close)? {
                    if close == b'}' {
                        names.push(scanner.key()?);
                    }
                    break;
                }
                open.pop();
                // The names of the message and of its params are the protocol's own.
                let own = match open.len() {
                    0 => true,
                    1 => names[..first].last().is_some_and(|name| name.is("params")),
                    _ => false,
                };
                if let Some(wrong) = twice(&names[first..], own) {
                    return Ok(Some(wrong));
                }
                names.truncate(first);
            },
        }
    }
}

fn twice(names: &[JsonString<'_>], in_any_case: bool) -> Option<String> {
    if names.len() < 2 {
        return None;
    }
    let mut sorted: Vec<_> = names.iter().map(|name| name.decode()).collect();
    sorted.sort_unstable();
    let shown = |name: &[u8]| quoted(&String::from_utf8_lossy(name));
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Some(format!("the member {} is in one object twice", shown(&pair[0])));
    }
    if !in_any_case {
        return None;
    }
    sorted.sort_unstable_by_key(|name| name.to_ascii_lowercase());
    let pair = sorted.windows(2).find(|pair| pair[0].eq_ignore_ascii_case(&pair[1]))?;
    Some(format!("the members {} and {} differ only in case", shown(&pair[0]), shown(&pair[1])))
}
