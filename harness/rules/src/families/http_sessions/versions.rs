//! The version in the headers of requests.

use super::rules::{BAD_400, NEGOTIATED, PRESENT};
use crate::engine::{HttpExchange, Revision, RuleContext, VERSION, Violation, quoted};
use crate::rule::Level;

/// The answer to a version that is none; whether the session that the request names is there.
pub(super) fn bad_version(exchange: &HttpExchange, lives: bool, at: &RuleContext<'_>) {
    let message = exchange.request_header(VERSION);
    let Some(message) = message.filter(|message| is_none(message) && !at.facts.hides(message)) else {
        return;
    };
    let wrong = || {
        let status = exchange.status();
        Violation::new(format!("the answer is {status}, and the version is {}", quoted(message)))
    };
    match exchange.status() {
        400 => at.pass(&BAD_400),
        // The session is there, and so is the path.
        404 if lives && exchange.is("POST") && exchange.error_code != Some(-32601) => {
            at.fail(&BAD_400, wrong());
        }
        500 => at.fail(&BAD_400, wrong().only(Level::Should)),
        // These are reported before anybody looks at the version.
        0 | 401 | 403 | 404 | 405 | 429 | 500.. => {}
        _ => at.fail(&BAD_400, wrong()),
    }
}

/// The version in a request's header beside the one that was negotiated.
pub(super) fn version(exchange: &HttpExchange, chosen: Option<&str>, at: &RuleContext<'_>) {
    let Some(message) = exchange.request_header(VERSION) else {
        let method = &exchange.raw.method;
        if exchange.request_lost {
            let why = "what was posted is not in the recording, and `initialize` needs no version";
            return at.inconclusive(&PRESENT, why);
        }
        let wrong = format!("the {method} has no `{VERSION}`");
        return at.lacks_header(&PRESENT, &exchange.raw.request_headers, VERSION, wrong);
    };
    at.pass(&PRESENT);
    let Some(chosen) = chosen else { return };
    at.check(&NEGOTIATED, message == chosen, || {
        format!("the header says {}, and {} was negotiated", quoted(message), quoted(chosen))
    });
}

/// Whether a text is not a version for certain: neither a published one, nor one that may be published yet, nor a draft's
/// name of its own.
fn is_none(message: &str) -> bool {
    if Revision::named(message).is_some() || message.to_ascii_lowercase().contains("draft") {
        return false;
    }
    let shape = message.len() == 10
        && message.bytes().zip(b"0000-00-00").all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            other => byte == *other,
        });
    !shape || message < Revision::V2026_07_28.name()
}

#[cfg(test)]
mod tests {
    use super::is_none;

    #[test]
    fn a_version_may_be_later_than_those_that_are_known() {
        for message in ["2025-06-18", "2027-01-01", "DRAFT-2026-v1"] {
            assert!(!is_none(message), "{message}");
        }
        for message in ["", "1.0", "2025-06-18, 2025-06-18", "2025-01-01", "1999-12-31", "2025/06/18"] {
            assert!(is_none(message), "{message}");
        }
    }
}
