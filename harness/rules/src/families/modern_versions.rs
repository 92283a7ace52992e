//! Versions and discovery where no handshake settles them: how a version is refused, what a client makes of it, and
//! what `server/discover` promises.
//!
//! An older server knows no `server/discover`, so that only one that shows itself to be of this revision breaks
//! anything by refusing it. Memory: the supported versions as last listed, up to [`MOST_VERSIONS`].

use super::meta_keys::is_prefixed_key;
use super::modern::is_clients;
use crate::engine::{
    Family, FindingLocation, META_CAPABILITIES, META_VERSION, MessageKind, PendingRequest, Revision,
    RuleContext, RuleVisitor, SeenMessage, Span, Trigger, Violation, per_session, quoted, shown, text_of,
};
use crate::rule::{Level, Party, Rule};
use transcript::json::{Json, JsonKind};
use transcript::rejection::Rejection;
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "modern-versions",
    title: "Versions and discovery without a handshake",
    rules: &[&UNSUPPORTED, &NAMED, &RETRY, &IMPLEMENTED, &CONSISTENT, &IDENTIFIER],
    triggers: &[Trigger::Messages],
    visitor: per_session::<ModernVersionsState>,
};

/// The most supported versions that are remembered.
const MOST_VERSIONS: usize = 100;

/// An error of more bytes is not searched for versions.
const MOST_TEXT: usize = 64 << 10;

/// A longer name is none of a version.
const LONGEST: usize = 100;

/// A request that comes sooner after a refusal may have been on its way when the refusal came, in milliseconds.
const ON_ITS_WAY: i64 = 100;

const OURS: Rule = Rule {
    span: Span::MODERN,
    source: "basic/versioning#protocol-version-negotiation",
    ..Rule::BLANK.server()
};

static UNSUPPORTED: Rule = Rule {
    id: "version.unsupported",
    title: "An unknown version is refused with -32022, which lists the versions that are known",
    why: "The list is all that a client has to find a version that both speak.",
    fix: "Send data.supported with your versions and data.requested with the one that was asked for.",
    ..OURS
};

static NAMED: Rule = Rule {
    id: "version.initialize-named",
    source: "basic/versioning#backward-compatibility-with-initialization-based-versions",
    title: "A server without older revisions refuses `initialize` and names those it speaks",
    why: "A client of an older revision shows its user this message and nothing else.",
    fix: "Put the supported versions into the message, or into data.supported.",
    ..OURS.should()
};

static RETRY: Rule = Rule {
    id: "version.retry",
    title: "After -32022 a client continues with a version that the server listed",
    why: "The same version is refused again and again, and the user sees a server that does not work.",
    fix: "Choose a version from data.supported, or tell the user that there is none in common.",
    ..OURS.should().client()
};

static IMPLEMENTED: Rule = Rule {
    id: "discover.implemented",
    source: "server/discover",
    title: "A server answers `server/discover`",
    why: "Clients that speak several revisions probe with it, and take a server that does not know it for an old one.",
    fix: "Implement it: versions, capabilities and identity are all that it has to say.",
    ..OURS
};

static CONSISTENT: Rule = Rule {
    id: "discover.caps-consistent",
    source: "server/tools#capabilities; server/discover",
    title: "What `server/discover` advertises exists when it is asked for",
    why: "Clients show features by the capabilities, and fail when they use them.",
    fix: "Advertise what is implemented, and nothing else.",
    softened: Some(
        "a warning on completions and on what is listened to, of which no sentence says that it must answer",
    ),
    ..OURS
};

static IDENTIFIER: Rule = Rule {
    id: "cap.extension-id",
    party: Party::Sender,
    source: "basic/versioning#extension-negotiation",
    title: "An extension's identifier is a key with a prefix, such as com.example/search",
    why: "Without a prefix two extensions may take the same name, and the other side enables the wrong one.",
    fix: "Put your own domain, reversed, before the name.",
    ..OURS
};

/// The methods that a capability promises.
pub(super) const PROMISED: &[(&str, &str)] = &[
    ("tools/list", "tools"),
    ("prompts/list", "prompts"),
    ("resources/list", "resources"),
    ("completion/complete", "completions"),
];

/// What a listening client may be promised.
const LISTENED: &[&str] =
    &["tools.listChanged", "prompts.listChanged", "resources.listChanged", "resources.subscribe"];

/// A refusal of a version that the client has not yet answered to.
struct Refused {
    location: FindingLocation,
    time: Option<i64>,
    supported: Vec<Box<str>>,
}

#[derive(Default)]
struct ModernVersionsState {
    /// What the server said it speaks.
    supported: Vec<Box<str>>,
    refused: Option<Refused>,
    /// Where `server/discover` was answered with -32601, as long as the server may be an old one.
    unknown: Option<FindingLocation>,
    /// Where `initialize` was refused, and the text of the error.
    refused_initialize: Option<(Box<str>, FindingLocation)>,
}

impl RuleVisitor for ModernVersionsState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        match message.kind {
            MessageKind::Request if message.calls("initialize") => self.refused = None,
            MessageKind::Request if is_clients(message, at) => self.request(message, at),
            MessageKind::Result => self.result(message, at),
            MessageKind::Error => self.error(message, at),
            _ => {}
        }
        if at.facts.negotiated.initialized {
            self.unknown = None;
        }
        if at.facts.modern
            && let Some(location) = self.unknown.take()
        {
            at.fail(&IMPLEMENTED, Violation::new("`server/discover` is answered with -32601").at(location));
        }
    }

    fn finish(&mut self, at: &RuleContext<'_>, _rejection: Option<&Rejection>) {
        // What the server says of itself may come after the refusal.
        if let Some((error, location)) = self.refused_initialize.take()
            && !self.supported.is_empty()
            && self.supported.iter().all(|name| &**name >= Revision::V2026_07_28.name())
        {
            let named = self.supported.iter().any(|version| error.contains(&**version));
            at.check(&NAMED, named, || {
                let listed = self.supported.join(", ");
                Violation::new(format!("the error names no version, and the server speaks {listed}"))
                    .at(location)
            });
        }
        if self.unknown.is_some() {
            at.inconclusive(&IMPLEMENTED, super::modern::UNPROVEN);
        }
    }
}

impl ModernVersionsState {
    fn request(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        if let Some(capabilities) = message.meta(META_CAPABILITIES) {
            identifiers(capabilities, at);
        }
        let Some(version) = message.meta(META_VERSION).and_then(text_of) else { return };
        let Some(refused) = self.refused.take() else { return };
        let waited = refused.time.zip(at.entry.time).map(|(then, now)| now - then);
        if refused.supported.contains(&version) {
            at.pass(&RETRY);
        } else if waited.is_none() {
            let why = "the request may have been on its way already; times would show it";
            at.inconclusive(&RETRY, why);
        } else if waited < Some(ON_ITS_WAY) {
            self.refused = Some(refused);
        } else {
            let listed = refused.supported.join(", ");
            let wrong = format!("the client continues with {}; the server listed {listed}", quoted(&version));
            at.fail(&RETRY, Violation::new(wrong).see(refused.location, "the refusal"));
        }
    }

    fn result(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let (Some(request), Some(result)) = (message.request(), message.raw.outcome()) else { return };
        if request.method() == "server/discover" {
            at.pass(&IMPLEMENTED);
            self.unknown = None;
            self.supported = versions(result.member("supportedVersions"));
            if let Some(capabilities) = result.member("capabilities") {
                identifiers(capabilities, at);
            }
        }
        if !self.supported.is_empty()
            && request.method() != "initialize"
            && let Some(version) = request.meta(META_VERSION)
            && let Some(name) = text_of(version)
            && !self.supported.contains(&name)
        {
            let wrong =
                format!("a request of version {} was served, which the server does not list", quoted(&name));
            at.fail(&UNSUPPORTED, Violation::new(wrong).of(request));
        }
        if promise(request, at).is_some() {
            at.pass(&CONSISTENT);
        }
    }

    fn error(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let (Some(error), Some(code)) = (message.error(), message.error_code()) else { return };
        if message.request_for("initialize").is_some() && error.text().len() <= MOST_TEXT {
            self.refused_initialize = Some((error.text().into(), at.location()));
        }
        let version = message.request().and_then(|request| request.meta(META_VERSION)).and_then(text_of);
        if let Some(version) =
            version.filter(|version| !self.supported.is_empty() && !self.supported.contains(version))
            && !matches!(code, -32022 | -32020)
            && error
                .member("message")
                .and_then(text_of)
                .is_some_and(|words| words.to_lowercase().contains("version"))
        {
            let wrong =
                format!("{code} refuses the version {}, which the server does not list", quoted(&version));
            at.fail(&UNSUPPORTED, Violation::new(wrong).of(message.request()));
        }
        match code {
            -32022 => {
                let data = error.member("data");
                let listed = data.and_then(|data| data.member("supported"));
                unsupported(message, error, listed, at);
                let supported = versions(listed);
                if !supported.is_empty() {
                    self.refused = Some(Refused { location: at.location(), time: at.entry.time, supported });
                }
            }
            -32601 => {
                let Some(request) = message.request() else { return };
                if request.method() == "server/discover" {
                    self.unknown.get_or_insert_with(|| at.location());
                }
                if let Some(capability) = promise(request, at) {
                    let wrong = format!(
                        "`{}` is unknown to a server that advertises `{capability}`",
                        request.method()
                    );
                    let level = if request.method().ends_with("/list") { Level::Must } else { Level::Should };
                    let wrong = Violation::new(wrong).of(request);
                    at.fail(&CONSISTENT, wrong.only(level));
                }
            }
            _ => {}
        }
    }
}

fn unsupported(message: &SeenMessage<'_>, error: Json<'_>, listed: Option<Json<'_>>, at: &RuleContext<'_>) {
    let requested = error.member("data").and_then(|data| data.member("requested"));
    let request = message.request().and_then(|request| request.meta(META_VERSION)).and_then(text_of);
    let wrong = match (listed, requested) {
        (None, _) => Violation::new("the error has no data.supported").inside(error),
        (Some(listed), _) if !is_list_of_strings(listed) => {
            Violation::new(format!("data.supported is not a list of versions: {}", shown(listed)))
                .inside(listed)
        }
        (_, None) => Violation::new("the error has no data.requested").inside(error),
        (_, Some(requested)) if requested.kind() != JsonKind::String => {
            Violation::kind("data.requested", requested)
        }
        (_, Some(requested)) if request.is_some() && text_of(requested) != request => {
            let wrong = format!(
                "data.requested is {}; the request asked for {}",
                shown(requested),
                quoted(&request.unwrap_or_default())
            );
            Violation::new(wrong).inside(requested)
        }
        (Some(listed), _) if request.is_some_and(|request| versions(Some(listed)).contains(&request)) => {
            Violation::new("data.supported lists the very version that is refused").inside(listed)
        }
        _ => return at.pass(&UNSUPPORTED),
    };
    at.fail(&UNSUPPORTED, wrong);
}

/// The capability that promises a request's method, where the server has advertised it.
fn promise(request: &PendingRequest, at: &RuleContext<'_>) -> Option<&'static str> {
    let advertised = |path: &&'static str| at.facts.declares(Side::Server, path) == Some(true);
    if request.method() == "subscriptions/listen" {
        return LISTENED.iter().copied().find(advertised);
    }
    let (_, capability) = PROMISED.iter().find(|(method, _)| *method == request.method())?;
    Some(*capability).filter(advertised)
}

fn identifiers(capabilities: Json<'_>, at: &RuleContext<'_>) {
    for (name, value) in capabilities.member("extensions").into_iter().flat_map(Json::members) {
        let name = String::from_utf8_lossy(&name.decode()).into_owned();
        at.check(&IDENTIFIER, is_prefixed_key(&name), || {
            Violation::new(format!("the extension is called {}", quoted(&name))).inside(value)
        });
    }
}

fn is_list_of_strings(value: Json<'_>) -> bool {
    value.kind() == JsonKind::Array
        && value.items().next().is_some()
        && value.items().all(|item| item.kind() == JsonKind::String)
}

fn versions(listed: Option<Json<'_>>) -> Vec<Box<str>> {
    listed
        .into_iter()
        .flat_map(Json::items)
        .filter_map(text_of)
        .filter(|name| name.len() <= LONGEST)
        .take(MOST_VERSIONS)
        .collect()
}
