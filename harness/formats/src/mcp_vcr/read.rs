//! Reading a YAML transcript, item by item.

use super::yaml;
use crate::document;
use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use std::borrow::Cow;
use transcript::json::{Json, JsonKind};
use transcript::message::{Message, Refusal};
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Location, Side, Sink, SinkError};

/// What stands ahead of an item.
const ITEM: &str = "- ";

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    let mut list = List::Ahead;
    let (mut index, mut has_begun) = (0, false);
    loop {
        let (length, is_last) = block(input, &mut list)?;
        if length == 0 {
            break;
        }
        let text = &input.text()[..length];
        if let Some(at) = text.bytes().position(is_control) {
            let message = "a control character, which YAML does not have".to_owned();
            let refusal = Refusal { code: Code::InvalidJson, clause: "SRV-BYTES", at, message };
            return Err(input.refuse(refusal, 0, ""));
        }
        let refuse = |code, said: &str| Err(input.refuse(document::wrong(code, said), 0, ""));
        let first = text.lines().next().unwrap_or_default().trim_end();
        match first.split_once(':') {
            _ if first.trim_start().is_empty() || first.starts_with('#') => {}
            _ if is_item(text, &list) => {
                if let List::Items(_) = list {
                    let location = Location {
                        offset: input.offset(),
                        line: input.line(),
                        root: "/messages/",
                        index: Some(index),
                        tail: "",
                    };
                    message(input, (length, is_last), location, options, sink)?;
                    index += 1;
                }
            }
            _ if first == "---" && !has_begun => {}
            _ if first == "---" => {
                return refuse(Code::WrongDocument, "a second document begins, and a transcript is one");
            }
            _ if first == "..." || first.starts_with('%') => {}
            Some(("messages", _)) if !matches!(list, List::Ahead) => {
                return Err(input.refuse(Refusal::duplicate(0, "messages"), 0, ""));
            }
            Some(("messages", rest)) => match rest.split('#').next().unwrap_or_default().trim() {
                "" if is_last && !text.ends_with('\n') => return Err(input.truncated("a list of messages")),
                "" | "null" | "~" => list = List::Items(None),
                "[]" => list = List::Over,
                other => {
                    let ahead = text.find(other).unwrap_or_default();
                    let placed =
                        |why: Refusal| Refusal { at: (ahead + why.at).saturating_sub(ITEM.len()), ..why };
                    yaml::item(&format!("{ITEM}{other}"))
                        .map_err(|why| input.refuse(cut_off(text, is_last, placed(why)), 0, ""))?;
                    return refuse(Code::MissingEntries, "`messages` is a list, an item a line or a block");
                }
            },
            Some((name, _)) => {
                if let List::Items(_) = list {
                    list = List::Over;
                }
                if name == "meta" && !is_supported(text) {
                    return refuse(
                        Code::UnsupportedVersion,
                        "a transcript of a version that is neither 0 nor 1",
                    );
                }
            }
            None if is_last && !text.ends_with('\n') && is_name(first) => {
                return Err(input.truncated("a member of the transcript"));
            }
            None => {
                return refuse(Code::InvalidJson, "a transcript has `messages` and `meta`; this is neither");
            }
        }
        has_begun |= !first.starts_with('#') && !first.is_empty();
        input.consume(length);
    }
    match list {
        List::Ahead if !has_begun => Err(input.truncated("a transcript")),
        List::Ahead => {
            let said = "the transcript has no `messages`";
            Err(input.refuse(document::wrong(Code::MissingEntries, said), 0, ""))
        }
        _ => Ok(()),
    }
}

/// Where a reading is.
enum List {
    /// The messages have not come yet.
    Ahead,
    /// They come, each behind so many spaces and a dash.
    Items(Option<usize>),
    /// They have come.
    Over,
}

/// How many bytes from the beginning of the window on belong together: a line at the margin or an item, and the lines behind it
/// that are neither; and whether nothing comes behind them.
fn block(input: &mut Input<'_>, list: &mut List) -> Result<(usize, bool), ReadError> {
    // The first item tells how far the others are from the margin.
    while is_short(input.text()) && input.grow()? {}
    begins(input.text(), list);
    let mut at = 0;
    loop {
        let text = input.text();
        let end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map(|end| at + end + 1);
        let Some(next) = end else {
            if input.grow()? {
                continue;
            }
            return Ok((input.text().len(), true));
        };
        // Nothing else is in this block: what comes behind may be an item.
        let is_list = at == 0 && text.starts_with("messages:");
        if is_short(&text[next..]) && input.grow()? {
            continue;
        }
        let rest = &input.text()[next..];
        if rest.is_empty() {
            return Ok((next, true));
        }
        if is_list || begins(rest, list) {
            return Ok((next, false));
        }
        at = next;
    }
}

/// Whether what follows may tell whether a line is an item.
fn is_short(text: &str) -> bool {
    text.trim_start_matches(' ').len() < 2
}

/// Whether a line at the beginning of `text` stands at the margin, or is an item of the messages.
fn begins(text: &str, list: &mut List) -> bool {
    let spaces = text.len() - text.trim_start_matches(' ').len();
    let mut rest = text[spaces..].bytes();
    let first = rest.next();
    let is_dash = first == Some(b'-') && matches!(rest.next(), None | Some(b' ' | b'\t' | b'\r' | b'\n'));
    match list {
        _ if spaces == 0 && !is_dash => !matches!(first, None | Some(b'\n' | b'\r' | b'#' | b'\t')),
        List::Items(Some(indent)) => is_dash && *indent == spaces,
        List::Items(None) if is_dash => {
            *list = List::Items(Some(spaces));
            true
        }
        _ => spaces == 0,
    }
}

fn is_item(text: &str, list: &List) -> bool {
    let indent = if let List::Items(Some(indent)) = list { *indent } else { 0 };
    text.get(indent..).and_then(|rest| rest.strip_prefix('-')).is_some_and(|rest| !rest.starts_with("--"))
}

/// The same refusal of a block, unless that is where the file was cut off.
fn cut_off(text: &str, is_last: bool, refusal: Refusal) -> Refusal {
    // JSON says for certain whether it only lacks its end.
    let json = text.trim_start_matches(['-', ' ']).trim_end();
    let is_wrong = json.starts_with("{\"") && Json::parse(json).is_err_and(|fault| !fault.ended);
    let code = if is_last && !text.ends_with('\n') && !is_wrong { Code::Truncated } else { refusal.code };
    Refusal { code, ..refusal }
}

/// The scanner takes a NUL for the end of the text.
fn is_control(byte: u8) -> bool {
    byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r')
}

/// Whether a line may be the beginning of a member's name.
fn is_name(line: &str) -> bool {
    line.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether the metadata name no version, or one that is read.
fn is_supported(meta: &str) -> bool {
    let version = meta.lines().find_map(|line| line.trim_start().strip_prefix("version:"));
    version.is_none_or(|version| matches!(version.trim(), "0" | "1"))
}

fn message(
    input: &Input<'_>,
    (length, is_last): (usize, bool),
    location: Location,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    let text = &input.text()[..length];
    let refuse = |refusal| input.refuse(refusal, 0, &location.pointer());
    let cut = |refusal| refuse(cut_off(text, is_last, refusal));
    let (start, json) = match on_one_line(text) {
        Some((start, json)) => (Some(start), Cow::Borrowed(json)),
        None => (None, Cow::Owned(yaml::item(text).map_err(cut)?)),
    };
    let names = ["dir", "payload", "t"];
    let moved = |refusal: Refusal| Refusal { at: start.map_or(0, |start| start + refusal.at), ..refusal };
    let [dir, payload, time] = document::members(&json, "a message of a transcript", names)
        .map_err(|refusal| cut(moved(refusal)))?;
    if is_last && time.is_none() {
        let said = "the file ends with an item that has no `t`, and may have been cut off";
        return Err(refuse(document::wrong(Code::Truncated, said)));
    }
    let Some(side) = dir.and_then(|(_, dir)| side(dir)) else {
        let said = "a message says in `dir` which way it went: c2s or s2c";
        return Err(refuse(document::wrong(Code::MissingDir, said)));
    };
    let Some((at, value)) = payload else {
        let said = "what was sent stands in `payload`, which is not there";
        return Err(refuse(document::wrong(Code::InvalidEntry, said)));
    };
    // In a block the place of the payload is all that is known of the places in it.
    let place = start.map_or_else(|| text.find("payload:").unwrap_or_default(), |start| start + at);
    let location = document::located(input, place, Location { tail: "/payload", ..location });
    let placed = |refusal: Refusal| match start {
        Some(_) => input.refuse(refusal, place, &location.pointer()),
        None => input.refuse(Refusal { at: 0, ..refusal }, place, &location.pointer()),
    };
    let content = match Message::parse(value.text()) {
        Ok(message) => Content::Message(message),
        Err(why) => document::noise(why, value, options).map_err(placed)?,
    };
    let entry = Entry {
        time: time.and_then(|(_, time)| time.as_number()?.parse().ok()),
        side: Some(side),
        ..Entry::new(location, content)
    };
    sink(entry).map_err(|error| match error {
        SinkError::Rejected(refusal) => placed(refusal),
        SinkError::Stop => ReadError::Stopped,
    })
}

/// An item that is JSON on one line, and where it begins.
fn on_one_line(text: &str) -> Option<(usize, &str)> {
    let rest = text.trim_start_matches(' ').strip_prefix('-')?.trim_start_matches(' ');
    let json = rest.trim_end();
    let is_json = json.starts_with('{') && !json.contains('\n') && Json::parse(json).is_ok_and(is_object);
    is_json.then_some((text.len() - rest.len(), json))
}

fn is_object(json: Json<'_>) -> bool {
    json.kind() == JsonKind::Object
}

fn side(dir: Json<'_>) -> Option<Side> {
    let dir = dir.as_text()?;
    match () {
        () if dir.is("c2s") => Some(Side::Client),
        () if dir.is("s2c") => Some(Side::Server),
        () => None,
    }
}
