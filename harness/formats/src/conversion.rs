//! What is to be said of a session that is written in another format.

use crate::format::Format;
use crate::reading::OrderGuess;
use crate::session::Session;

/// What a conversion changes, in sentences without their full stop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversion {
    /// What changes the meaning, each with its clause: reasons not to write.
    pub refused: Vec<String>,
    /// What a person should know of what is written.
    pub notes: Vec<String>,
    /// The entries without which the other format's own program loads the rest.
    pub unloadable: Vec<usize>,
}

impl Conversion {
    /// What it takes to write `session`, which was read as `from`, as `to`.
    #[must_use]
    pub fn new(session: &Session, from: &Format, to: &Format) -> Self {
        let (mut refused, mut notes) = (Vec::new(), Vec::new());
        for loss in session.losses(to) {
            match loss.clause {
                Some(clause) => refused.push(format!("{} cannot carry {} ({clause})", to.name, loss.what)),
                None => notes.push(format!("{} cannot carry {}: left out", to.name, loss.what)),
            }
        }
        let unloadable = (to.unloadable)(session);
        refused.extend(unloadable.iter().map(|it| format!("{} does not load {}", to.name, it.what)));
        if to.carries.direction && session.entries.iter().any(|entry| entry.inferred) {
            notes.push(format!(
                "{} does not say who sent what: it was inferred from the methods and from what is answered",
                from.name
            ));
        }
        let caveats = [from, to].into_iter().filter(|side| !side.caveat.is_empty());
        notes.extend(caveats.map(|side| format!("{}: {}", side.name, side.caveat)));
        if session.totals.guessed {
            notes.push(format!("{}: {}", from.name, OrderGuess::CAVEAT));
        }
        Self { refused, notes, unloadable: unloadable.map(|it| it.entries).unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests {
    use super::Conversion;
    use crate::{ReadOptions, Session, find};

    /// Both sides count from 0: without a direction the answer to the server would be bound to the request of the client.
    const BOTH_ASK: &str = r#"{"v":1,"type":"meta","startedAt":"2026-09-01T10:00:00.000Z","label":"s","command":["s"]}
{"t":"2026-09-01T10:00:00.100Z","dir":"in","raw":{"jsonrpc":"2.0","id":0,"method":"tools/list"}}
{"t":"2026-09-01T10:00:00.120Z","dir":"out","raw":{"jsonrpc":"2.0","id":0,"method":"ping"}}
{"t":"2026-09-01T10:00:00.140Z","dir":"in","raw":{"jsonrpc":"2.0","id":0,"result":{}}}
"#;

    #[test]
    fn what_changes_the_meaning_is_apart_from_what_is_context() {
        let (from, to) = (find("mcp-replay").unwrap(), find("jsonrpc").unwrap());
        let session = Session::of(from, BOTH_ASK.as_bytes(), ReadOptions::default()).unwrap();
        let found = Conversion::new(&session, from, to);
        assert_eq!(found.refused.len(), 1, "{found:?}");
        assert!(found.refused[0].ends_with("(COR-DIRECTION-FLAT)"), "{found:?}");
        assert!(
            found.notes.iter().any(|note| note == "jsonrpc cannot carry times (4): left out"),
            "{found:?}"
        );
        // Into its own format nothing is lost.
        assert_eq!(Conversion::new(&session, from, from), Conversion::default());
    }
}
