//! Roots: the directories that a client opens to a server.

use crate::engine::{
    Family, MessageKind, RuleContext, RuleVisitor, SeenMessage, ServerRequests, Span, Trigger, Uri,
    Violation, shown, string_of, uri,
};
use crate::rule::{Level, Rule};
use transcript::json::Json;
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "roots",
    title: "Roots",
    rules: &[&URI, &UNSUPPORTED],
    triggers: &[Trigger::InputRequests, Trigger::Methods(MessageKind::ANSWERS, &["roots/list"])],
    visitor: || Box::new(RootsState::default()),
};

static URI: Rule = Rule {
    id: "roots.uri",
    source: "client/roots#root",
    title: "A root's URI begins with file://",
    why: "Servers turn it into a path; anything else is refused or, worse, taken for one.",
    fix: "Write an absolute path as file:///path, with characters that a URI cannot have escaped.",
    softened: Some("a warning where the URI is only not escaped"),
    ..Rule::BLANK.client()
};

static UNSUPPORTED: Rule = Rule {
    id: "roots.unsupported",
    span: Span::SESSIONS,
    source: "client/roots#error-handling",
    title: "A client without roots answers `roots/list` with the error -32601",
    why: "The server learns from the code that it need not ask again.",
    fix: "Answer with -32601 rather than with a code of your own.",
    ..Rule::BLANK.should().client()
};

#[derive(Default)]
struct RootsState {
    server_requests: ServerRequests,
}

impl RuleVisitor for RootsState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        for answer in self.server_requests.see(at).iter().filter(|answer| answer.method == "roots/list") {
            for root in answer.result.member("roots").into_iter().flat_map(Json::items) {
                let Some(value) = root.member("uri") else { continue };
                let Some(text) = string_of(value) else { continue };
                let wrong =
                    |why: &str| Violation::new(format!("the root {} {why}", shown(value))).inside(value);
                match uri(&text) {
                    _ if !text.starts_with("file://") => at.fail(&URI, wrong("does not begin with file://")),
                    Uri::Good => at.pass(&URI),
                    Uri::Loose(_) => at.fail(&URI, wrong("is not escaped as a URI").only(Level::Should)),
                    Uri::Bad(why) => at.fail(&URI, wrong(&format!("is not a URI: {why}"))),
                }
            }
        }
        if message.error_of("roots/list").is_none() {
            return;
        }
        match (at.facts.declares(Side::Client, "roots"), message.error_code()) {
            (Some(false), Some(code)) => at.check(&UNSUPPORTED, code == -32601, || {
                format!("the client has no roots, and its answer is {code} rather than -32601")
            }),
            (None, _) => at.inconclusive(&UNSUPPORTED, "the recording does not show what the client can do"),
            _ => {}
        }
    }
}
