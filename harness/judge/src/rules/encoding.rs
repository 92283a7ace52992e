//! Bytes and text: what every frame must be before it can be a message.

use super::{Family, Party, Rule, Watch};
use crate::check::{Found, Moment};

pub(super) const FAMILY: Family =
    Family { name: "encoding", title: "Encoding and framing", rules: &[&UTF8], watch: || Box::new(Watching) };

pub(super) static UTF8: Rule = Rule {
    id: "enc.utf8",
    party: Party::Recorder,
    source: "basic/transports; RFC 8259, section 8.1",
    title: "Every byte is UTF-8, and no character was damaged on the way",
    why: "A recorder that splits a character between two reads writes U+FFFD or invalid bytes, although the wire was \
          right.",
    fix: "Record bytes, and decode whole messages alone.",
    ..Rule::BLANK
};

struct Watching;

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        let Some(said) = &at.said else { return };
        found.check(
            &UTF8,
            at,
            !said.message.text().contains('\u{fffd}'),
            || "the message holds U+FFFD, which stands where a character was lost",
        );
    }
}
