//! The codes for what is not a message: -32700 for what is not JSON, and -32600 for JSON that is not a request.

use crate::engine::{HttpExchange, RuleContext, SeenMessage, Violation, text_of};
use crate::rule::{Party, Rule};
use transcript::json::Json;
use transcript::rejection::Code;
use transcript::session::{Noise, Side};

pub(super) static PARSE: Rule = Rule {
    id: "jsonrpc.error.parse-code",
    relational: true,
    source: "schema, PARSE_ERROR; JSON-RPC 2.0, section 5.1",
    title: "-32700 answers only what is not JSON; -32600 a method that is not a string",
    why: "A client that gets it looks for a fault in its JSON; one that gets another code looks for a fault in what it asked.",
    fix: "Answer -32700 where the JSON parser fails, -32600 where the JSON is not a request, and -32601 where there is no \
          such method.",
    ..Rule::BLANK.should()
};

/// An error over stdio: the answer to a request, or to what came last that is not a message, and from whom.
pub(super) fn answer(message: &SeenMessage<'_>, broken: &mut Option<(Side, Code)>, at: &RuleContext<'_>) {
    // Over HTTP the exchange is judged, which shows what was posted.
    let Some(code) = message.error_code().filter(|_| at.exchange.is_none()) else { return };
    if let Some(request) = message.request() {
        let wrong = || Violation::new("the request is JSON, and the code is -32700").of(request);
        return at.check(&PARSE, code != -32700, wrong);
    }
    let Some((from, bad)) = broken.take_if(|(from, _)| at.side == Some(from.other())) else { return };
    // It may be about an open request.
    if !at.pending.open().iter().any(|request| request.side == Some(from)) {
        refused(bad, code, from.other().into(), at);
    }
}

/// Whether -32700 and what is not JSON go together. Nothing is known of statuses by which the headers were refused.
pub(super) fn code(exchange: &HttpExchange, at: &RuleContext<'_>) {
    let Some(code) = exchange.error_code.filter(|_| exchange.messages == 1 && !exchange.several) else {
        return;
    };
    match (exchange.bad_request, code) {
        (Some(Code::InvalidJson), -32700) => at.pass(&PARSE),
        (_, -32700) if exchange.marked => at.pass(&PARSE),
        _ if exchange.marked => {}
        (Some(bad), -32603..=-32600) if matches!(exchange.status(), 200 | 400 | 500) => {
            refused(bad, code, Party::Server, at)
        }
        (
            None | Some(Code::Batch | Code::NotAMessage | Code::InvalidVersion | Code::InvalidMethod),
            -32700,
        ) if exchange.speaks() => {
            let wrong = Violation::new("what was posted is JSON, and the code is -32700");
            at.fail(&PARSE, wrong.by(Party::Server));
        }
        _ => {}
    }
}

/// Whether the code of an error is the one for what is not a message.
fn refused(bad: Code, code: i64, party: Party, at: &RuleContext<'_>) {
    let (right, what) = match bad {
        Code::InvalidJson => (-32700, "is not JSON"),
        Code::InvalidMethod => (-32600, "has a method that is not a string"),
        _ => return,
    };
    if code == right {
        at.pass(&PARSE);
    } else if matches!(code, -32700 | -32603..=-32600) {
        let wrong = Violation::new(format!("what was sent {what}, and the code is {code}"));
        at.fail(&PARSE, wrong.by(party));
    }
}

/// What is wrong with a line that an error may answer: it is half a message, or its method is not a string.
pub(super) fn broken(noise: &Noise<'_>) -> Option<Code> {
    let text = Json::parse(&noise.text).ok().and_then(text_of);
    let is_half = || text.is_some_and(|text| text.starts_with(['{', '[']) && Json::parse(&text).is_err());
    match noise.why.code {
        Code::InvalidMethod => Some(Code::InvalidMethod),
        Code::NotAMessage if is_half() => Some(Code::InvalidJson),
        _ => None,
    }
}
