//! What was asked, what is still open, and what an answer is meant for.
//!
//! A plain list, and how an event reads in the normal form, written out by hand.

use super::steps::{Act, KnownMessage, PlanStep};
use crate::values::{TEXTS, object, pick};
use transcript::session::Side;

/// Ids by their spelling, and as the normal form has them. Several spellings denote one id.
const IDS: &[(&str, &str)] = &[
    ("0", r#""0""#),
    ("1", r#""1""#),
    (r#""1""#, r#""1""#),
    (r#""\u0031""#, r#""1""#),
    ("-7", r#""-7""#),
    ("9007199254740993", r#""9007199254740993""#),
    ("9007199254740992", r#""9007199254740992""#),
    (r#""""#, r#""""#),
    (r#""null""#, r#""null""#),
    (r#"" 1 ""#, r#"" 1 ""#),
    (r#""A""#, r#""A""#),
    (r#""a""#, r#""a""#),
    (r#""é""#, r#""é""#),
    ("\"e\u{301}\"", "\"e\u{301}\""),
    (r#""\ud83d\ude00""#, r#""😀""#),
    (r#""😀""#, r#""😀""#),
    (r#""\uD83D""#, r#""\ud83d""#),
    ("\"\u{2028}\"", "\"\u{2028}\""),
    (r#""\u2028\/\u0000""#, "\"\u{2028}/\\u0000\""),
    ("1.0", r#""1.0""#),
    ("1e400", r#""1e400""#),
    ("-0", r#""-0""#),
];

/// Methods other than tool calls, in both spellings.
const METHODS: &[(&str, &str)] = &[
    (r#""ping""#, r#""ping""#),
    (r#""initialize""#, r#""initialize""#),
    (r#""roots/list""#, r#""roots/list""#),
    (r#""sampling\/createMessage""#, r#""sampling/createMessage""#),
    (r#""notifications/progress""#, r#""notifications/progress""#),
    (r#""tools/call ""#, r#""tools/call ""#),
    (r#""TOOLS/CALL""#, r#""TOOLS/CALL""#),
    (r#""""#, r#""""#),
    (r#""m\u00e9thode\ud83d""#, r#""méthode\ud83d""#),
];

const CALLS: &[&str] = &[r#""tools/call""#, r#""tools\/call""#, r#""\u0074ools/call""#];

/// Who asked what and waits. A list that is searched from its beginning: the oldest comes first.
#[derive(Default)]
pub(super) struct PendingRequests {
    open: Vec<PendingRequest>,
    /// The same for somebody who cannot tell directions.
    open_flat: Vec<PendingRequest>,
    called: Vec<String>,
    messages: usize,
    pub(super) needs_directions: bool,
}

#[derive(Clone)]
struct PendingRequest {
    index: usize,
    client: bool,
    spelled: String,
    id: String,
}

impl PendingRequests {
    pub(super) fn message(&mut self, at: usize, step: &PlanStep) -> Option<KnownMessage> {
        let loose = step.layout & 1 == 1;
        let (spelled, known) = IDS[usize::from(step.id) % IDS.len()];
        let mut message = match step.act {
            Act::Ask => self.ask(step, spelled, known, loose),
            Act::Call => self.call(step, spelled, known, loose),
            Act::Answer | Act::Fail if !self.open.is_empty() => {
                let open = self.open[usize::from(step.id) % self.open.len()].clone();
                self.reply(step, !open.client, Some((&open.spelled, &open.id)), loose)
            }
            // An answer without an id answers nothing, whatever is open.
            Act::Answer | Act::Fail => self.reply(step, step.client, None, loose),
            Act::Stray => self.reply(step, step.client, Some((spelled, known)), loose),
            Act::Notify => notify(step, loose),
            Act::Aside => return None,
        };
        message.step = at;
        self.messages += 1;
        Some(message)
    }

    fn ask(&mut self, step: &PlanStep, spelled: &str, known: &str, loose: bool) -> KnownMessage {
        let (method, plain) = METHODS[usize::from(step.method) % METHODS.len()];
        self.open(step.client, spelled, known);
        let (params, shown) = body("params", step, loose);
        let members = [Some(("\"id\"", spelled.to_owned())), Some(("\"method\"", method.to_owned())), params];
        let event = format!("{{\"kind\": \"request\", \"id\": {known}, \"method\": {plain}{shown}}}");
        message(step, step.client, members, loose, event, "/params")
    }

    fn call(&mut self, step: &PlanStep, spelled: &str, known: &str, loose: bool) -> KnownMessage {
        let mut id = (spelled.to_owned(), known.to_owned());
        if self.called.contains(&id.1) {
            // COR-DUPLICATE would reject this one.
            let fresh = format!("\"call-{}\"", self.messages);
            id = (fresh.clone(), fresh);
        }
        // One call in sixteen has no id, one a null.
        let id = match step.method >> 4 {
            15 => None,
            14 => Some(("null".to_owned(), None)),
            _ => Some((id.0, Some(id.1))),
        };
        let mut event = "{\"kind\": \"tool_call\"".to_owned();
        if let Some((spelled, Some(known))) = &id {
            event += &format!(", \"id\": {known}");
            self.called.push(known.clone());
            self.open(step.client, spelled, known);
        }
        let mut params = Vec::new();
        // TOOL-NAMELESS: one in sixteen has no name, one a name that is a number.
        let name = match step.slot >> 4 {
            15 => None,
            14 => Some("7"),
            choice => Some(pick(TEXTS, choice)),
        };
        if let Some(name) = name {
            params.push(("\"name\"", name.to_owned()));
            event += &format!(", \"tool\": {name}");
        }
        let (arguments, shown) = body("arguments", step, loose);
        params.extend(arguments);
        event += &format!("{shown}}}");
        if step.layout & 64 != 0 {
            params.push(("\"_meta\"", r#"{"progressToken":1,"name":2,"name":3}"#.to_owned()));
        }
        let turned = usize::from(step.layout >> 4) % params.len().max(1);
        params.rotate_left(turned);
        let method = pick(CALLS, step.method);
        let members = [
            id.map(|(spelled, _)| ("\"id\"", spelled)),
            Some(("\"method\"", method.to_owned())),
            Some(("\"params\"", object(params, loose))),
        ];
        message(step, step.client, members, loose, event, "/arguments")
    }

    fn reply(
        &mut self,
        step: &PlanStep,
        client: bool,
        id: Option<(&str, &str)>,
        loose: bool,
    ) -> KnownMessage {
        let answers = id.and_then(|(_, known)| self.bind(client, known));
        let answered = answers.map_or("null".to_owned(), |index| index.to_string());
        let shown_id = id.map(|(_, known)| format!(", \"id\": {known}")).unwrap_or_default();
        let value = |loose| step.value.as_ref().map_or("{}".to_owned(), |value| value.spell(loose));
        let (name, pointer, kind, spelled, plain) = if step.act == Act::Fail {
            let error = |loose| {
                let head = [("\"code\"", "-32603".to_owned()), ("\"message\"", "\"é\"".to_owned())];
                object(head.into_iter().chain([("\"data\"", value(loose))]).collect(), loose)
            };
            ("\"error\"", "/error/data", "error", error(loose), error(false))
        } else {
            ("\"result\"", "/result", "result", value(loose), value(false))
        };
        let event = format!("{{\"kind\": \"{kind}\"{shown_id}, \"answers\": {answered}, {name}: {plain}}}");
        let id = match id {
            Some((spelled, _)) => Some(("\"id\"", spelled.to_owned())),
            None => (step.id & 1 == 0).then(|| ("\"id\"", "null".to_owned())),
        };
        let mut message = message(step, client, [id, Some((name, spelled)), None], loose, event, pointer);
        message.answers = answers;
        message
    }

    fn open(&mut self, client: bool, spelled: &str, id: &str) {
        let open =
            PendingRequest { index: self.messages, client, spelled: spelled.to_owned(), id: id.to_owned() };
        self.open.push(open.clone());
        self.open_flat.push(open);
    }

    /// The oldest open request with this id that the other side made.
    fn bind(&mut self, client: bool, id: &str) -> Option<usize> {
        let found = self.open.iter().position(|open| open.id == id && open.client != client);
        let flat = self.open_flat.iter().position(|open| open.id == id);
        let found = found.map(|at| self.open.remove(at).index);
        let flat = flat.map(|at| self.open_flat.remove(at).index);
        self.needs_directions |= found != flat;
        found
    }
}

fn notify(step: &PlanStep, loose: bool) -> KnownMessage {
    let (method, plain) = METHODS[usize::from(step.method) % METHODS.len()];
    let (params, shown) = body("params", step, loose);
    let id = (step.id & 1 == 1).then(|| ("\"id\"", "null".to_owned()));
    let event = format!("{{\"kind\": \"notification\", \"method\": {plain}{shown}}}");
    message(step, step.client, [id, Some(("\"method\"", method.to_owned())), params], loose, event, "/params")
}

/// The step's value as a member, and as the event shows it.
fn body(name: &str, step: &PlanStep, loose: bool) -> (Option<(&'static str, String)>, String) {
    let Some(value) = &step.value else { return (None, String::new()) };
    let member = if name == "params" { "\"params\"" } else { "\"arguments\"" };
    (Some((member, value.spell(loose))), format!(", \"{name}\": {}", value.spell(false)))
}

fn message(
    step: &PlanStep,
    client: bool,
    members: [Option<(&'static str, String)>; 3],
    loose: bool,
    event: String,
    value_at: &'static str,
) -> KnownMessage {
    let mut all =
        vec![("\"jsonrpc\"", if step.layout & 2 == 0 { r#""2.0""# } else { r#""\u0032.0""# }.to_owned())];
    all.extend(members.into_iter().flatten());
    if step.layout & 4 != 0 {
        all.push(("\"x-unknown\"", r#"{"id":[true],"jsonrpc":"1.0","method":7}"#.to_owned()));
    }
    let turned = usize::from(step.layout >> 3) % all.len();
    all.rotate_left(turned);
    let side = if client { Side::Client } else { Side::Server };
    let value_at = step.value.as_ref().map(|_| value_at);
    KnownMessage { step: 0, text: object(all, loose), side, answers: None, event, value_at }
}
