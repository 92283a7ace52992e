//! Recorders that go wrong on purpose, each with the session that shows it and what must be said of it.

use super::{HTTP, bad, bad_http, results};

/// What must be said of a recorder with a fault.
struct Caught {
    scenario: &'static str,
    dimension: &'static str,
    verdict: &'static str,
    /// What the pointer of the first finding begins with.
    at: &'static str,
    /// A part of the message.
    says: &'static str,
}

impl Caught {
    fn is_caught(&self, http: bool, fault: &str) {
        // Faults that only times show need short ones; all others must not depend on how busy the machine is.
        let timed = ["hold", "late", "lazy", "buffer", "cut"].contains(&fault);
        let (patience, timeout) = if timed { ("0.6", "6") } else { ("3", "2") };
        let usual = ["--filter", self.scenario, "--patience", patience, "--timeout", timeout];
        let record = match http {
            true => results(&bad_http(fault), &[&usual[..], &HTTP[..]].concat(), 1),
            false => results(&bad(fault), &usual, 1),
        };
        let line = record.results.iter().find(|line| line.format == self.dimension).unwrap();
        assert_eq!(line.verdict.name(), self.verdict, "{line:?}");
        assert!(line.difference.as_ref().unwrap().at.starts_with(self.at), "{line:?}");
        assert!(line.message.as_deref().unwrap().contains(self.says), "{line:?}");
    }
}

/// A test for each fault: its name, the session, the dimension, the verdict, the pointer, and the message.
macro_rules! caught {
    ($http:literal: $($name:ident $scenario:literal $dimension:ident $verdict:ident $at:literal $says:literal;)*) => {
        $(#[test]
        fn $name() {
            let (dimension, verdict) = (stringify!($dimension), stringify!($verdict));
            let caught = Caught { scenario: $scenario, dimension, verdict, at: $at, says: $says };
            caught.is_caught($http, &stringify!($name).replace('_', "-"));
        })*
    };
}

mod stdio {
    use super::Caught;

    caught! { false:
        drop "conditions/plain" fidelity fail "/lost/server/1"
            "message 2 of the server is not in the recording";
        float "conditions/values" fidelity fail "/changed/client/2"
            "is no longer JSON";
        round "conditions/values" fidelity fail "/changed/client/2"
            "/params/arguments/beyond in line 5 of the recording: a number was rounded to a double";
        reprint "conditions/plain" transparency fail "/other-bytes/client/0"
            "differ from byte";
        swallow_exit "conditions/exit-code" transparency fail "/other-exit/session/0"
            "the server ended with exit code 7, and the recorder with exit code 0";
        leave "conditions/exit-code" transparency fail "/other-exit/session/0"
            "the server ended with exit code 7, and the recorder with exit code 0";
        hold "conditions/plain" transparency fail "/held-up/server/0"
            "message 1 of the server was held up for";
        swallow "conditions/plain" transparency fail "/other-bytes/client/1"
            "message 2 of the client";
        garbage "conditions/plain" fidelity garbled "/unreadable/session/0"
            "format of the recording is unknown";
        crash "conditions/plain" transparency crash "/not-received/server/1"
            "the recorder ended in the middle of the session, with exit code 70";
        never "conditions/plain" fidelity fail "/no-recording/session/0"
            "the recorder wrote no recording";
        late "conditions/pause" fidelity fail "/stamped-late/client/0"
            "after it was received";
        early "conditions/plain" fidelity fail "/stamped-early/client/0"
            "before it was sent";
        twice "conditions/plain" fidelity fail "/added/client/3"
            "repeats a message that was not sent again";
        merge "conditions/many-messages" fidelity fail "/merged/server/"
            "is merged with others";
        swap "conditions/plain" fidelity fail "/bound-wrongly/server/"
            "the recording binds it to nothing";
        hang "conditions/plain" transparency timeout "/no-end/server/0"
            "had not ended";
        lazy "conditions/killed" fidelity fail "/no-recording/session/0"
            "the recording is empty";
    }
}

mod http {
    use super::Caught;

    caught! { true:
        buffer "conditions/pause" transparency fail "/held-up/server/2"
            "was held up for";
        header "conditions/plain" transparency fail "/other-header/client/1"
            "arrived without its mcp-session-id";
        host "conditions/plain" transparency fail "/other-header/client/0"
            "Host that is neither";
        twice "conditions/plain" transparency fail "/not-sent/client/"
            "more often than the client sent it";
        status "conditions/plain" transparency fail "/other-status/server/1"
            "with 202, and the client received 200";
        reprint "conditions/values" transparency fail "/other-bytes/client/0"
            "differs from byte";
        cut "conditions/pause" fidelity fail "/lost/server/"
            "is not in the recording";
    }
}
