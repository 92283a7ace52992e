//! Recorders that go wrong on purpose, each with the session that shows it and what has to be said of it.

use super::{HTTP, bad, bad_http, results};

/// A recorder with a fault, the session that shows it, and what must be said of it.
pub(crate) struct Caught {
    pub(crate) http: bool,
    pub(crate) how: &'static str,
    scenario: &'static str,
    dimension: &'static str,
    verdict: &'static str,
    /// What the place of the first finding begins with.
    at: &'static str,
    /// A part of what is said.
    says: &'static str,
}

pub(crate) const CAUGHT: &[Caught] = &[
    Caught {
        http: false,
        how: "drop",
        scenario: "conditions/plain",
        dimension: "fidelity",
        verdict: "fail",
        at: "/lost/server/1",
        says: "message 2 of the server is not in the recording",
    },
    Caught {
        http: false,
        how: "float",
        scenario: "conditions/values",
        dimension: "fidelity",
        verdict: "fail",
        at: "/changed/client/2",
        says: "is no JSON any more",
    },
    Caught {
        http: false,
        how: "round",
        scenario: "conditions/values",
        dimension: "fidelity",
        verdict: "fail",
        at: "/changed/client/2",
        says: "/params/arguments/beyond in line 5 of the recording: a number went through a floating point",
    },
    Caught {
        http: false,
        how: "reprint",
        scenario: "conditions/plain",
        dimension: "transparency",
        verdict: "fail",
        at: "/other-bytes/client/0",
        says: "part at byte",
    },
    Caught {
        http: false,
        how: "swallow-exit",
        scenario: "conditions/exit-code",
        dimension: "transparency",
        verdict: "fail",
        at: "/other-exit/session/0",
        says: "the server ended with exit code 7, and the recorder with exit code 0",
    },
    Caught {
        http: false,
        how: "hold",
        scenario: "conditions/plain",
        dimension: "transparency",
        verdict: "fail",
        at: "/held-up/server/0",
        says: "message 1 of the server was held up for",
    },
    Caught {
        http: false,
        how: "swallow",
        scenario: "conditions/plain",
        dimension: "transparency",
        verdict: "fail",
        at: "/other-bytes/client/1",
        says: "message 2 of the client",
    },
    Caught {
        http: false,
        how: "garbage",
        scenario: "conditions/plain",
        dimension: "fidelity",
        verdict: "garbled",
        at: "/unreadable/session/0",
        says: "in no format that is known",
    },
    Caught {
        http: false,
        how: "crash",
        scenario: "conditions/plain",
        dimension: "transparency",
        verdict: "crash",
        at: "/not-received/server/1",
        says: "the recorder ended in the middle of the session, with exit code 70",
    },
    Caught {
        http: false,
        how: "never",
        scenario: "conditions/plain",
        dimension: "fidelity",
        verdict: "fail",
        at: "/no-recording/session/0",
        says: "the recorder wrote no recording",
    },
    Caught {
        http: false,
        how: "late",
        scenario: "conditions/pause",
        dimension: "fidelity",
        verdict: "fail",
        at: "/stamped-late/client/0",
        says: "after it was received",
    },
    Caught {
        http: false,
        how: "early",
        scenario: "conditions/plain",
        dimension: "fidelity",
        verdict: "fail",
        at: "/stamped-early/client/0",
        says: "before it was sent",
    },
    Caught {
        http: false,
        how: "twice",
        scenario: "conditions/plain",
        dimension: "fidelity",
        verdict: "fail",
        at: "/added/client/3",
        says: "once more than it was sent",
    },
    Caught {
        http: false,
        how: "merge",
        scenario: "conditions/many-messages",
        dimension: "fidelity",
        verdict: "fail",
        at: "/merged/server/",
        says: "stands together with others",
    },
    Caught {
        http: false,
        how: "swap",
        scenario: "conditions/plain",
        dimension: "fidelity",
        verdict: "fail",
        at: "/bound-wrongly/server/",
        says: "the recording binds it to nothing",
    },
    Caught {
        http: false,
        how: "hang",
        scenario: "conditions/plain",
        dimension: "transparency",
        verdict: "timeout",
        at: "/no-end/server/0",
        says: "had not ended",
    },
    Caught {
        http: false,
        how: "lazy",
        scenario: "conditions/killed",
        dimension: "fidelity",
        verdict: "fail",
        at: "/no-recording/session/0",
        says: "the recording is empty",
    },
    Caught {
        http: true,
        how: "buffer",
        scenario: "conditions/pause",
        dimension: "transparency",
        verdict: "fail",
        at: "/held-up/server/2",
        says: "was held up for",
    },
    Caught {
        http: true,
        how: "header",
        scenario: "conditions/plain",
        dimension: "transparency",
        verdict: "fail",
        at: "/other-header/client/1",
        says: "arrived without its mcp-session-id",
    },
    Caught {
        http: true,
        how: "host",
        scenario: "conditions/plain",
        dimension: "transparency",
        verdict: "fail",
        at: "/other-header/client/0",
        says: "Host that is neither",
    },
    Caught {
        http: true,
        how: "twice",
        scenario: "conditions/plain",
        dimension: "transparency",
        verdict: "fail",
        at: "/not-sent/client/",
        says: "once more than the client sent it",
    },
    Caught {
        http: true,
        how: "status",
        scenario: "conditions/plain",
        dimension: "transparency",
        verdict: "fail",
        at: "/other-status/server/1",
        says: "with 202, and the client received 200",
    },
    Caught {
        http: true,
        how: "reprint",
        scenario: "conditions/values",
        dimension: "transparency",
        verdict: "fail",
        at: "/other-bytes/client/0",
        says: "was sent and received otherwise",
    },
    Caught {
        http: true,
        how: "cut",
        scenario: "conditions/pause",
        dimension: "fidelity",
        verdict: "fail",
        at: "/lost/server/",
        says: "is not in the recording",
    },
];

impl Caught {
    pub(crate) fn is_caught(&self) {
        // What is told by times alone needs short ones; all else must not depend on how busy the machine is.
        let timed = ["hold", "late", "lazy", "buffer", "cut"].contains(&self.how);
        let (patience, timeout) = if timed { ("0.6", "6") } else { ("5", "2.5") };
        let usual = ["--filter", self.scenario, "--patience", patience, "--timeout", timeout];
        let record = match self.http {
            true => results(&bad_http(self.how), &[&usual[..], &HTTP[..]].concat(), 1),
            false => results(&bad(self.how), &usual, 1),
        };
        let line = record.results.iter().find(|line| line.format == self.dimension).unwrap();
        assert_eq!(line.verdict.name(), self.verdict, "{line:?}");
        assert!(line.difference.as_ref().unwrap().at.starts_with(self.at), "{line:?}");
        assert!(line.message.as_deref().unwrap().contains(self.says), "{line:?}");
    }
}
