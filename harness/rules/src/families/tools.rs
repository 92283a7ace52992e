//! Tools: how they are listed, and how they are called.
//!
//! Memory: the order of the last listing, up to [`MOST_LISTED`] names, and compiled schemas as `Schemas` says.

use crate::engine::{
    Definition, Family, Fit, LONGEST_NAME, MessageKind, Revision, RuleContext, RuleVisitor, Schemas,
    SeenMessage, Span, TAKEN_OUT, ToolList, Trigger, Validity, Violation, part, quoted, shown, str_of,
    string_of, text_of,
};
use crate::rule::{Level, Rule};
use crate::shapes::Typed;
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "tools",
    title: "Tools and their calls",
    rules: &[&PARAMS, &ARGS, &KNOWN, &UNKNOWN, &INPUT, &GRAMMAR, &UNIQUE, &SCHEMA, &DIALECT, &ORDER],
    triggers: &[
        Trigger::Methods(&[MessageKind::Notification], &["notifications/tools/list_changed"]),
        Trigger::Methods(&[MessageKind::Request], &["initialize"]),
        Trigger::Methods(MessageKind::CALLS, &["tools/list", "tools/call"]),
    ],
    visitor: || Box::new(ToolsState::default()),
};

const LATE: Span = Span::from(Revision::V2025_11_25);

static PARAMS: Rule = Rule {
    id: "tools.call.params",
    source: "schema, CallToolRequest",
    title: "A call has the tool's `name` as a string, and its `arguments` as an object",
    why: "Servers take arguments by name; a list, a string of JSON or null is refused or, worse, guessed at.",
    fix: "Send `name` as a string and `arguments` as an object, or leave `arguments` out.",
    ..Rule::BLANK.client()
};

static ARGS: Rule = Rule {
    id: "tools.call.args-valid",
    source: "server/tools#calling-tools",
    title: "The arguments of a call fit the tool's `inputSchema`",
    why: "The server has to refuse such a call. It is not a protocol error, since models err and can learn from it.",
    fix: "Validate arguments before they are sent, and give the model the schema as it was listed.",
    ..Rule::BLANK.info().client()
};

static KNOWN: Rule = Rule {
    id: "tools.call.known-name",
    source: "server/tools#calling-tools",
    title: "The called tool is one of those that were listed",
    why: "A name that the server never listed is usually invented by a model, or was kept from an older listing.",
    fix: "Offer the model only the tools of the last listing.",
    ..Rule::BLANK.info().client()
};

static UNKNOWN: Rule = Rule {
    id: "tools.unknown",
    relational: true,
    source: "server/tools#error-handling",
    title: "A call of an unknown tool is answered with an error rather than with a result",
    why: "A result says that the tool ran: clients believe what is in it, and after `isError` they try again.",
    fix: "Answer with the error -32602.",
    ..Rule::BLANK.should().server()
};

static INPUT: Rule = Rule {
    id: "tools.input-error",
    span: LATE,
    source: "server/tools#error-handling",
    title: "Arguments that do not fit are answered with `isError` rather than a JSON-RPC error",
    why: "Many clients keep protocol errors from the model, which then cannot correct its arguments.",
    fix: "Answer with a result that has `isError` and says what is wrong with the arguments.",
    ..Rule::BLANK.should().server()
};

static GRAMMAR: Rule = Rule {
    id: "tools.name.grammar",
    span: LATE,
    source: "server/tools#tool-names",
    title: "A tool's name has 1 to 128 characters, each of A-Z, a-z, 0-9, dot, _ and -",
    why: "Model APIs refuse other names, so clients have to rename the tool or leave it out.",
    fix: "Rename the tool, and put its display name into `title`.",
    ..Rule::BLANK.should().server()
};

static UNIQUE: Rule = Rule {
    id: "tools.name.unique",
    source: "server/tools#data-types; server/tools#tool-names",
    title: "No two tools of one listing have the same name, on any of its pages",
    why: "A call has only the name, so it is not clear which of the two is meant.",
    fix: "Name each tool once; look for a page that repeats the one before it.",
    ..Rule::BLANK.should().server()
};

static SCHEMA: Rule = Rule {
    id: "tools.schema.valid",
    raised: Some((Revision::V2025_11_25, Level::Must)),
    source: "basic/index#schema-validation; server/tools#tool",
    title: "`inputSchema` and `outputSchema` are valid JSON Schemas of their dialect",
    why: "Clients that compile the schemas drop the tool, and some drop the whole listing.",
    fix: "Validate the schemas against the meta-schema of 2020-12, or name the dialect in `$schema`; `inputSchema` \
          has the type \"object\", and up to 2025-11-25 each of its `properties` is an object.",
    softened: Some(
        "a warning before 2025-11-25 or where no revision is known, and only on a reference to what does not exist: no dialect is named",
    ),
    ..Rule::BLANK.should().server()
};

static DIALECT: Rule = Rule {
    id: "tools.schema.dialect",
    span: LATE,
    source: "basic/index#schema-dialect",
    title: "Schemas use JSON Schema 2020-12",
    why: "It is the one dialect that every client has to support; others may drop the tool.",
    fix: "Write the schema in 2020-12, and leave `$schema` out.",
    softened: Some(
        "a note, since the specification recommends it and allows others; once for each page of a listing",
    ),
    ..Rule::BLANK.info().server()
};

static ORDER: Rule = Rule {
    id: "tools.list.deterministic",
    span: Span::MODERN,
    source: "server/tools#capabilities",
    title: "Two listings of the same tools have them in the same order",
    why: "The tools come first in what a model reads, and another order invalidates its cache.",
    fix: "Sort the tools, or keep them in the order in which they were registered.",
    ..Rule::BLANK.should().server()
};

static NAME: Typed = Typed::new("tools/call>", "name");
static ARGUMENTS: Typed = Typed::new("tools/call>", "arguments");
static INPUT_SCHEMA: Typed = Typed::new("Tool", "inputSchema");
static OUTPUT_SCHEMA: Typed = Typed::new("Tool", "outputSchema");

/// The order of longer listings is not compared.
const MOST_LISTED: usize = 10_000;

#[derive(Default)]
struct ToolsState {
    list: ToolList,
    schemas: Schemas,
    /// The names of the listing that is being shown, in order; and of the last whole one.
    order: Vec<String>,
    last: Option<Vec<String>>,
}

impl RuleVisitor for ToolsState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let again = self.list.see(at);
        if message.kind == MessageKind::Request && message.calls("tools/call") {
            self.call(at);
        }
        if let Some(result) = message.result_of("tools/list") {
            for name in again {
                let wrong = format!("the tool {} is listed a second time", shown(name));
                at.fail(&UNIQUE, Violation::new(wrong).inside(name));
            }
            let first = message.request().is_some_and(|request| request.param("cursor").is_none());
            self.listed(result, first, at);
        }
        if message.request_for("tools/call").is_some() {
            self.answered(at);
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        at.reached(self.schemas.spent());
    }
}

impl ToolsState {
    fn call(&mut self, at: &RuleContext<'_>) {
        let Some(message) = at.message else { return };
        let named = message.raw.params().and_then(|params| Some((params, params.member("name")?)));
        let Some((params, value)) = named else {
            return at.fail(&PARAMS, "the call has no `name`");
        };
        let given = params.member("arguments");
        let faults = [(&NAME, Some(value)), (&ARGUMENTS, given)];
        let mut faults = faults.into_iter().filter_map(|(member, value)| member.fault(value?, at.revision));
        if let Some(fault) = faults.next() {
            return at.fail(&PARAMS, Violation::new(fault.wrong).inside(fault.place));
        }
        at.pass(&PARAMS);
        let Some(name) = str_of(value) else { return };
        match self.list.find(at.facts, &name) {
            Definition::Unsure(why) => {
                at.inconclusive(&KNOWN, why);
                at.inconclusive(&ARGS, why);
            }
            Definition::Missing => {
                at.fail(&KNOWN, Violation::new(format!("no tool {} is listed", quoted(&name))).inside(value));
            }
            Definition::Listed(tool) => {
                at.pass(&KNOWN);
                match self.arguments(tool, given, at) {
                    Fit::Fits => at.pass(&ARGS),
                    Fit::Unsure(why) => at.inconclusive(&ARGS, why),
                    Fit::Unfit(why, pointer) => {
                        let location = given.map_or(params, |given| part(given, &pointer));
                        let wrong = format!("the arguments do not fit the schema of the tool: {why}");
                        at.fail(&ARGS, Violation::new(wrong).inside(location));
                    }
                }
            }
        }
    }

    /// Holds arguments to the schema of a tool. None given are an empty object.
    fn arguments(&mut self, tool: Json<'_>, given: Option<Json<'_>>, at: &RuleContext<'_>) -> Fit {
        let Some(schema) = tool.member("inputSchema") else {
            return Fit::Unsure("the tool has no `inputSchema`".to_owned());
        };
        let Some(given) = given.or_else(|| Json::parse("{}").ok()) else { return Fit::Fits };
        if at.redacted(schema) || at.redacted(given) {
            return Fit::Unsure(TAKEN_OUT.to_owned());
        }
        self.schemas.fit(schema, given)
    }

    fn answered(&mut self, at: &RuleContext<'_>) {
        let Some(message) = at.message else { return };
        let Some(request) = message.request() else { return };
        let failed =
            message.raw.outcome().filter(|_| message.kind == MessageKind::Result).is_some_and(is_error);
        let code = message.error_code().filter(|code| matches!(code, -32602 | -32603));
        let refused = code.is_some();
        // Of a call that was served only an unknown name is to be known.
        if !(failed || refused || self.list.knows_all()) {
            return;
        }
        let Some(called) = request.param("name") else { return };
        let Some(name) = str_of(called) else { return };
        let see = |wrong: String| Violation::new(wrong).see(request.location(), "the call");
        match self.list.find(at.facts, &name) {
            Definition::Unsure(why) => {
                if failed {
                    at.inconclusive(&UNKNOWN, why);
                }
                if refused {
                    at.inconclusive(&INPUT, why);
                }
            }
            Definition::Missing if message.kind == MessageKind::Error => at.pass(&UNKNOWN),
            Definition::Missing if at.redacted(called) => at.inconclusive(&UNKNOWN, TAKEN_OUT),
            Definition::Missing => {
                let ends = if failed { "fails with `isError`" } else { "gets a result" };
                let wrong = format!("no tool {} is listed, and its call {ends}", quoted(&name));
                at.fail(&UNKNOWN, see(wrong));
            }
            Definition::Listed(tool) => {
                if !(refused || failed) {
                    return;
                }
                // A call without params that could be kept tells nothing about its arguments.
                let given = request.param("arguments");
                if given.is_some_and(|given| given.kind() != JsonKind::Object) {
                    return;
                }
                match self.arguments(tool, given, at) {
                    Fit::Unfit(..) if failed => at.pass(&INPUT),
                    Fit::Unfit(why, _) => {
                        let code = code.unwrap_or_default();
                        let wrong = format!("the arguments do not fit ({why}), and the answer is {code}");
                        at.fail(&INPUT, see(wrong));
                    }
                    Fit::Fits => {}
                    Fit::Unsure(why) => at.inconclusive(&INPUT, why),
                }
            }
        }
    }

    fn listed(&mut self, result: Json<'_>, first: bool, at: &RuleContext<'_>) {
        if first {
            self.order.clear();
        }
        let tools = || result.member("tools").into_iter().flat_map(Json::items);
        let schemas =
            tools().flat_map(|tool| [&INPUT_SCHEMA, &OUTPUT_SCHEMA].map(|typed| tool.member(typed.name())));
        let mut dialects = schemas.flatten().filter_map(|schema| schema.member("$schema"));
        let other = dialects.find(|name| text_of(*name).is_some_and(|name| !name.contains("2020-12")));
        at.without(&DIALECT, other, |other| {
            Violation::new(format!("the dialect of a schema is {}", shown(other))).inside(other)
        });
        for tool in tools() {
            self.definition(tool, at);
            if let Some(name) = tool.member("name").and_then(string_of)
                && self.list.goes_on()
                && self.order.len() <= MOST_LISTED
                && name.len() <= LONGEST_NAME
            {
                self.order.push(name);
            }
        }
        if !self.list.goes_on() || !self.list.is_whole() || self.order.len() > MOST_LISTED {
            return;
        }
        if let Some(last) = &self.last {
            let sorted = |names: &[String]| {
                let mut names = names.to_vec();
                names.sort_unstable();
                names
            };
            if sorted(last) == sorted(&self.order) {
                let moved = last.iter().zip(&self.order).find(|(before, now)| before != now);
                at.without(&ORDER, moved, |(before, now)| {
                    format!("{} is where {} was in the listing before", quoted(now), quoted(before))
                });
            }
        }
        self.last = Some(self.order.clone());
    }

    fn definition(&mut self, tool: Json<'_>, at: &RuleContext<'_>) {
        if let Some(value) = tool.member("name")
            && let Some(name) = string_of(value)
        {
            let allowed = |char: char| char.is_ascii_alphanumeric() || "_-.".contains(char);
            let wrong = match name.chars().count() {
                0 => Some("a tool has an empty name".to_owned()),
                length if length > 128 => Some(format!("a tool's name has {length} characters")),
                _ => name
                    .chars()
                    .find(|char| !allowed(*char))
                    .map(|char| format!("the tool's name {} has the character {char:?}", quoted(&name))),
            };
            at.without(&GRAMMAR, wrong, |wrong| Violation::new(wrong).inside(value));
            // Where it was listed before, it is broken, which has been said.
            at.pass(&UNIQUE);
        }
        for typed in [&INPUT_SCHEMA, &OUTPUT_SCHEMA] {
            let name = typed.name();
            let Some(schema) = tool.member(name) else { continue };
            if at.redacted(schema) {
                at.inconclusive(&SCHEMA, TAKEN_OUT);
                continue;
            }
            let of = quoted(&tool.member("name").and_then(string_of).unwrap_or_default());
            let dialect = at.revision.is_some_and(|revision| LATE.has(revision));
            if let Some(fault) = typed.fault(schema, at.revision).filter(|_| dialect) {
                let wrong = match fault.wrong.strip_prefix(&format!("`{name}` ")) {
                    Some(wrong) => format!("`{name}` of {of} {wrong}"),
                    None => format!("in `{name}` of {of}, {}", fault.wrong),
                };
                at.fail(&SCHEMA, Violation::new(wrong).inside(fault.place));
                continue;
            }
            match self.schemas.validity(schema) {
                Validity::Invalid(why, _) if !dialect && !why.starts_with("Pointer ") => {}
                Validity::Invalid(why, pointer) => {
                    let location = part(schema, &pointer);
                    let is_no_type = pointer.ends_with("/type") && why.ends_with("the 'anyOf' keyword");
                    let why = if is_no_type { "it is none of the types of JSON Schema" } else { &why };
                    let wrong = match why.strip_prefix("Pointer '").and_then(|why| why.split_once('\'')) {
                        Some((missing, _)) => {
                            format!("`{name}` of {of} refers to `#{missing}`, which is not in it")
                        }
                        None => {
                            let at = show_pointer(&pointer);
                            format!("`{name}` of {of} is not a valid schema: at {at}, {why}")
                        }
                    };
                    at.fail(&SCHEMA, Violation::new(wrong).inside(location));
                }
                Validity::Unsure(why) => at.inconclusive(&SCHEMA, why),
                Validity::Valid => at.pass(&SCHEMA),
            }
        }
    }
}

fn show_pointer(pointer: &str) -> &str {
    if pointer.is_empty() { "its top" } else { pointer }
}

/// Whether a result of a call says that the tool failed.
pub(super) fn is_error(result: Json<'_>) -> bool {
    result.member("isError").is_some_and(|value| value.text() == "true")
}
