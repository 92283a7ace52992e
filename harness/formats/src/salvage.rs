//! What is whole in a transcript that was cut off, as a recorder leaves it that was killed in the middle of a write.
//!
//! Readers refuse such a file (clause SRV-BYTES), since what came before a cut is not everything. This makes a whole one
//! of it on request, and says how much was left out. Of lines, the last one goes where it is half a line. Of a
//! document, the list is closed behind its last whole item. Whole items that stand behind it at the beginning of a line
//! are added: a recorder writes what comes next there, before it joins it to the list. Such an item replaces an earlier
//! one with the same first member, which is an exchange as it was when it was still open.
//!
//! Memory: a copy of the text, and a few words for each item.

use crate::format::{Format, Items};
use std::collections::BTreeMap;
use transcript::json::Json;

/// What could be saved.
#[derive(Debug, PartialEq, Eq)]
pub struct Salvaged {
    /// A whole transcript.
    pub bytes: Vec<u8>,
    /// How many items, or lines, it has.
    pub items: usize,
    /// How many bytes of the file are left out, since they belong to no whole item.
    pub left_out: usize,
    /// It was cut behind a whole line: it is of a format whose last line tells how the session ended, and has none.
    pub lacks_end: bool,
}

impl Salvaged {
    /// What became of the file of this name and format, in a sentence without its full stop.
    #[must_use]
    pub fn told(&self, name: &str, format: &Format) -> String {
        let (items, noun) = (self.items, if format.is_lines() { "lines" } else { "items" });
        match self.left_out {
            0 if self.lacks_end => format!(
                "{name} was cut off between two lines: its {items} whole {noun} are kept, none of which says how the \
                 session ended"
            ),
            0 => format!("{name} is whole: {items} {noun}"),
            rest => format!(
                "{name} was cut off: its {items} whole {noun} are kept, and {rest} bytes are left out"
            ),
        }
    }
}

/// Saves what is whole; none where not even the beginning of a document is.
#[must_use]
pub fn salvage(format: &Format, bytes: &[u8]) -> Option<Salvaged> {
    match format.items {
        Items::Lines => Some(lines(format, bytes)),
        Items::List(path) => list(path, bytes),
    }
}

fn lines(format: &Format, bytes: &[u8]) -> Salvaged {
    let last = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
    let no_json = format.messages.is_empty();
    let is_whole = no_json || is_json(&bytes[last..]) || bytes[last..].trim_ascii().is_empty();
    let kept = if is_whole { bytes } else { &bytes[..last] };
    let items = kept.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
    let lacks_end = format.carries.process && !ends(kept);
    Salvaged { bytes: kept.to_vec(), items, left_out: bytes.len() - kept.len(), lacks_end }
}

/// Whether some line is the end of a trace. It need not be the last: what a program says while it ends may come behind it.
fn ends(lines: &[u8]) -> bool {
    let is_end = |line: &[u8]| {
        let line = std::str::from_utf8(line).ok().and_then(|line| Json::parse(line).ok());
        let of = line.and_then(|line| line.member("type")?.as_text());
        of.is_some_and(|of| of.is("end"))
    };
    lines.split(|&byte| byte == b'\n').rev().any(is_end)
}

/// A document that was cut off, closed behind the last item that is whole where it stands, and how many those are; none where
/// there is none.
pub(crate) fn closed(path: &[&str], text: &str) -> Option<(usize, String)> {
    let Whole { items, .. } = whole_items(path, text.as_bytes())?;
    let end = items.last()?.1;
    Some((items.len(), format!("{}]{}", text.get(..end)?, "}".repeat(path.len()))))
}

/// Where a list begins, where its whole items are, from where to where, and where what comes behind them begins.
struct Whole {
    begin: usize,
    items: Vec<(usize, usize)>,
    rest: usize,
}

fn whole_items(path: &[&str], bytes: &[u8]) -> Option<Whole> {
    let begin = list_begin(path, bytes)?;
    let (mut items, mut at) = (Vec::new(), begin);
    while let Some(item) = item_at(bytes, at) {
        items.push(item);
        at = item.1;
        let comma = skip_space(bytes, at);
        if bytes.get(comma) != Some(&b',') {
            break;
        }
        at = comma + 1;
    }
    Some(Whole { begin, items, rest: at })
}

fn list(path: &[&str], bytes: &[u8]) -> Option<Salvaged> {
    let Whole { begin, items, rest: mut at } = whole_items(path, bytes)?;
    let mut items: Vec<Option<&[u8]>> = items.into_iter().map(|(from, to)| Some(&bytes[from..to])).collect();
    if is_json(bytes) {
        return Some(Salvaged { bytes: bytes.to_vec(), items: items.len(), left_out: 0, lacks_end: false });
    }
    let mut left_out = bytes.len() - at;
    let mut places: BTreeMap<&[u8], usize> = BTreeMap::new();
    places.extend(items.iter().enumerate().filter_map(|(place, item)| Some((first_member((*item)?), place))));
    while let Some(line) = memchr::memmem::find(&bytes[at..], b"\n{") {
        let Some((from, to)) = item_at(bytes, at + line) else {
            at += line + 1;
            continue;
        };
        let item = &bytes[from..to];
        if let Some(earlier) = places.insert(first_member(item), items.len()) {
            items[earlier] = None;
        }
        items.push(Some(item));
        left_out -= item.len();
        at = to;
    }
    let kept: Vec<&[u8]> = items.into_iter().flatten().collect();
    let mut out = bytes[..begin].to_vec();
    for (index, item) in kept.iter().enumerate() {
        out.extend_from_slice(if index == 0 { b"\n" } else { b",\n" });
        out.extend_from_slice(item);
    }
    out.extend_from_slice(format!("\n]{}\n", "}".repeat(path.len())).as_bytes());
    Some(Salvaged { bytes: out, items: kept.len(), left_out, lacks_end: false })
}

/// Where the list's first item may begin.
fn list_begin(path: &[&str], bytes: &[u8]) -> Option<usize> {
    let Some(name) = path.last() else { return (bytes.first()? == &b'[').then_some(1) };
    let name = format!("\"{name}\"");
    let colon = skip_space(bytes, memchr::memmem::find(bytes, name.as_bytes())? + name.len());
    let open = skip_space(bytes, colon + 1);
    (bytes.get(colon) == Some(&b':') && bytes.get(open) == Some(&b'[')).then_some(open + 1)
}

/// The whole object that stands next, from where to where.
fn item_at(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let from = skip_space(bytes, at);
    let (mut depth, mut in_string, mut escaped) = (0u64, false, false);
    for (offset, &byte) in bytes.get(from..)?.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            let to = from + offset + 1;
            return (bytes[from] == b'{' && is_json(&bytes[from..to])).then_some((from, to));
        }
    }
    None
}

/// What tells an item from others: its text up to the first comma.
fn first_member(item: &[u8]) -> &[u8] {
    item.split(|&byte| byte == b',').next().unwrap_or_default()
}

fn skip_space(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len())
}

fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| Json::parse(text).is_ok())
}

#[cfg(test)]
mod tests {
    use super::salvage;
    use crate::find;

    const HEAD: &str = "{\"log\": {\"version\": \"1.2\", \"entries\": [";

    fn entry(time: u32, text: &str) -> String {
        format!("{{\"startedDateTime\": {time},\n \"text\": \"}}\\\"{text}\"}}")
    }

    /// The items that are saved, by number and text, and how many bytes are not.
    fn saved(file: &str) -> Option<(Vec<String>, usize)> {
        let saved = salvage(find("har").unwrap(), file.as_bytes())?;
        let whole: serde_json::Value = serde_json::from_slice(&saved.bytes).unwrap();
        let list = whole["log"]["entries"].as_array().unwrap();
        assert_eq!(list.len(), saved.items);
        let name = |item: &serde_json::Value| {
            format!("{}{}", item["startedDateTime"], &item["text"].as_str().unwrap()[2..])
        };
        Some((list.iter().map(name).collect(), saved.left_out))
    }

    #[test]
    fn an_archive_that_is_cut_anywhere_keeps_its_whole_entries() {
        let entries: Vec<String> = (0..4).map(|number| entry(number, "x")).collect();
        let file = format!("{HEAD}    \n{}\n]}}}}\n", entries.join(",   \n"));
        for cut in 0..=file.len() {
            let whole = (1..=4).filter(|&count| {
                let end = HEAD.len()
                    + 5
                    + entries[..count].iter().map(String::len).sum::<usize>()
                    + 5 * (count - 1);
                cut >= end
            });
            match saved(&file[..cut]) {
                Some((items, left_out)) => {
                    assert_eq!(items.len(), whole.count(), "{cut}");
                    assert!(left_out < entries[0].len() + 10, "{cut}: {left_out}");
                }
                None => assert!(cut < HEAD.len(), "{cut}"),
            }
        }
        assert_eq!(saved(&file).unwrap().1, 0);
    }

    #[test]
    fn what_stands_behind_an_archive_is_joined_to_it_and_replaces_what_it_was() {
        let archive = format!("{HEAD}    \n{},   \n{}\n]}}}}\n", entry(1, "whole"), entry(2, "open"));
        let behind = format!("\0\0,   \n{},   \n{}\n]}}}}\n", entry(2, "ended"), entry(3, "new"));
        let file = archive.clone() + &behind;
        for cut in 0..behind.len() {
            let (items, left_out) = saved(&file[..archive.len() + cut]).unwrap();
            let expected: &[&str] = match cut {
                _ if cut >= behind.len() - 5 => &["1whole", "2ended", "3new"],
                _ if cut >= 7 + entry(2, "ended").len() => &["1whole", "2ended"],
                _ => &["1whole", "2open"],
            };
            assert_eq!(items, expected, "{cut}");
            assert!(cut == 0 || left_out > 0 || cut >= 7, "{cut}");
        }
    }

    #[test]
    fn half_a_line_is_left_out() {
        let text = "{\"a\":1}\n{\"a\":2}\n{\"a\":3}";
        for cut in 0..=text.len() {
            let saved = salvage(find("mcp-replay").unwrap(), &text.as_bytes()[..cut]).unwrap();
            assert_eq!(saved.bytes.len() + saved.left_out, cut);
            assert_eq!(
                (saved.items, saved.left_out),
                ((cut + 1) / 8, if (cut + 1) % 8 == 0 { 0 } else { cut % 8 }),
                "{cut}"
            );
        }
    }

    #[test]
    fn a_trace_that_is_cut_between_lines_is_not_whole() {
        let whole = concat!(
            "{\"v\":1,\"type\":\"meta\"}\n",
            "{\"dir\":\"in\",\"raw\":{\"type\":\"end\"}}\n",
            "{\"t\":\"x\",\"type\":\"end\"}\n"
        );
        for (cut, line) in whole.match_indices('\n').map(|(at, _)| at + 1).zip(1..) {
            for text in [whole[..cut].to_owned(), format!("{}\n", &whole[..cut])] {
                let saved = salvage(find("mcp-replay").unwrap(), text.as_bytes()).unwrap();
                assert_eq!((saved.items, saved.left_out, saved.lacks_end), (line, 0, line < 3), "{text}");
            }
        }
        let saved = salvage(find("jsonrpc").unwrap(), b"{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n").unwrap();
        assert!(!saved.lacks_end, "no line of it tells of an end");
    }
}
