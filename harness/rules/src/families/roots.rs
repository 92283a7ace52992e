//! Roots: the directories that a client opens to a server.

use crate::engine::{Found, Moment, Sort, Span, Uri, Wishes, Wrong, shown, string_of, uri};
use crate::family::{Family, Hears, Watch};
use crate::rule::{Level, Party, Rule};
use transcript::json::Json;
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "roots",
    title: "Roots",
    rules: &[&URI, &UNSUPPORTED],
    hears: &[Hears::Asking, Hears::Some(&[Sort::Result, Sort::Error], &["roots/list"])],
    watch: || Box::new(Watching::default()),
};

static URI: Rule = Rule {
    id: "roots.uri",
    party: Party::Client,
    source: "client/roots#root",
    title: "A root's URI begins with file://",
    why: "Servers turn it into a path; anything else is refused or, worse, taken for one.",
    fix: "Write an absolute path as file:///path, with what is no URI character escaped.",
    ..Rule::BLANK
};

static UNSUPPORTED: Rule = Rule {
    id: "roots.unsupported",
    level: Level::Should,
    party: Party::Client,
    span: Span::SESSIONS,
    source: "client/roots#error-handling",
    title: "A client without roots answers `roots/list` with the error -32601",
    why: "The server learns from the code that it need not ask again.",
    fix: "Answer with -32601 rather than with a code of your own.",
    ..Rule::BLANK
};

#[derive(Default)]
struct Watching {
    wishes: Wishes,
}

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        for granted in self.wishes.see(at).iter().filter(|granted| granted.method == "roots/list") {
            for root in granted.result.member("roots").into_iter().flat_map(Json::items) {
                let Some(value) = root.member("uri") else { continue };
                let Some(text) = string_of(value) else { continue };
                let wrong = |why: &str| Wrong::of(format!("the root {} {why}", shown(value))).inside(value);
                match uri(&text) {
                    _ if !text.starts_with("file://") => {
                        found.broke(&URI, at, wrong("does not begin with file://"));
                    }
                    Uri::Good => found.held(&URI, at),
                    Uri::Loose(_) => {
                        found.broke(&URI, at, wrong("is not escaped as a URI").only(Level::Should));
                    }
                    Uri::Bad(why) => found.broke(&URI, at, wrong(&format!("is no URI: {why}"))),
                }
            }
        }
        let Some(said) = &at.said else { return };
        if said.error_of("roots/list").is_none() {
            return;
        }
        match (at.facts.declares(Side::Client, "roots"), said.error_code()) {
            (Some(false), Some(code)) => found.check(&UNSUPPORTED, at, code == -32601, || {
                format!("the client has no roots, and its answer is {code} rather than -32601")
            }),
            (None, _) => found.unsure(&UNSUPPORTED, at, "the recording does not show what the client can do"),
            _ => {}
        }
    }
}
