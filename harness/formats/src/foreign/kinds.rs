//! The table of what files are that are not recordings: `kinds.txt`, whose head says how it is written.

use crate::head::Head;
use std::sync::LazyLock;

/// What a file is and what to do with it, and one set of its signs: each with a name and what it is about.
struct Kind {
    what: &'static str,
    signs: Vec<(&'static str, &'static str)>,
}

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| read(include_str!("kinds.txt")));

/// What a file is that begins with these bytes, or with this text, of which this is the head.
pub(super) fn of(bytes: &[u8], text: &str, head: &Head) -> Option<&'static str> {
    KINDS.iter().find(|kind| kind.fits(bytes, text, head)).map(|kind| kind.what)
}

impl Kind {
    fn fits(&self, bytes: &[u8], text: &str, head: &Head) -> bool {
        let all = |names: &str, has: &dyn Fn(&str) -> bool| names.split(' ').all(has);
        let is_there = |name: &str, sign: &str| match name {
            "bytes" => begins(bytes, sign),
            "object" => all(sign, &|it| head.has(it)),
            "list" => all(sign, &|it| head.first_has(it)),
            "event" => sign.split_once(' ').is_some_and(|(name, text)| head.has_event(name, text)),
            "lacks" => all(sign, &|it| !head.has(it) && !head.first_has(it)),
            "begins" => text.starts_with(sign),
            "line" => text.lines().any(|line| line.starts_with(sign)),
            "says" => {
                text.contains(sign)
                    && (self.has("object") || self.has("list") || head.lines().next().is_some())
            }
            _ => !text.contains(sign),
        };
        // One of several is enough, but for what must not be there.
        let holds = |&(name, sign): &(&str, &str)| {
            is_there(name, sign)
                || name != "unless" && self.signs.iter().any(|it| it.0 == name && is_there(name, it.1))
        };
        self.signs.iter().all(holds)
    }

    fn has(&self, name: &str) -> bool {
        self.signs.iter().any(|sign| sign.0 == name)
    }
}

/// Whether bytes begin as this says in hexadecimal.
fn begins(bytes: &[u8], sign: &str) -> bool {
    let mut bytes = bytes.iter();
    sign.split(' ').all(|wanted| match (bytes.next(), wanted) {
        (Some(byte), "..") => *byte != 0,
        (byte, wanted) => byte.copied() == u8::from_str_radix(wanted, 16).ok() && byte.is_some(),
    })
}

/// The kinds of a table.
fn read(table: &'static str) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let last = kinds.last_mut();
        match (line.strip_prefix("  "), last) {
            (Some(sign), Some(kind)) => {
                let (name, about) = sign.split_once(' ').unwrap_or((sign, ""));
                let about = about.trim_start();
                let quoted = about.strip_prefix('"').and_then(|about| about.strip_suffix('"'));
                kind.signs.push((name, quoted.unwrap_or(about)));
            }
            (_, Some(Kind { what, .. })) if line == "or" => {
                let what = *what;
                kinds.push(Kind { what, signs: Vec::new() });
            }
            _ => kinds.push(Kind { what: line, signs: Vec::new() }),
        }
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::{KINDS, begins};

    #[test]
    fn the_table_is_well_written() {
        let names = ["bytes", "object", "list", "event", "lacks", "begins", "line", "says", "unless"];
        assert!(KINDS.len() > 40);
        for kind in KINDS.iter() {
            assert!(
                kind.what.contains("; ") || kind.what.contains(", and "),
                "{} without a way out",
                kind.what
            );
            assert!(!kind.signs.is_empty(), "{} has no signs", kind.what);
            for (name, sign) in &kind.signs {
                assert!(names.contains(name) && !sign.is_empty(), "{}: {name} {sign}", kind.what);
                let is_hex =
                    |byte: &str| byte == ".." || byte.len() == 2 && u8::from_str_radix(byte, 16).is_ok();
                assert!(*name != "bytes" || sign.split(' ').all(is_hex), "{}: {sign}", kind.what);
            }
            let tells = ["bytes", "object", "list", "event", "begins", "says"];
            assert!(tells.iter().any(|name| kind.has(name)), "anything is {}", kind.what);
        }
    }

    #[test]
    fn bytes_begin_as_they_are_written() {
        assert!(begins(b"\xff\xfea\0b", "ff fe .. 00") && !begins(b"\xff\xfe\0\0", "ff fe .. 00"));
        assert!(!begins(b"\xff\xfe", "ff fe .. 00") && !begins(b"", "ff"));
    }
}
