//! `x-mcp-header`: parameters of tools that clients of Streamable HTTP repeat in headers.
//!
//! Where in a schema the annotation may stand, and what it may say. A property that is merely called `x-mcp-header` is
//! no annotation, nor is one among examples.

use super::elicitation::secrecy;
use crate::engine::{
    Family, MessageKind, OnMessage, RuleContext, SeenMessage, Span, Trigger, Violation, is_token, quoted,
    shown, str_of, text_of,
};
use crate::rule::{Need, Party, Rule};
use transcript::json::{Json, JsonKind};
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "tool-headers",
    title: "Parameters of tools that go into headers",
    rules: &[&NON_EMPTY, &TOKEN, &NO_CONTROL, &UNIQUE, &PRIMITIVE, &REACHABLE, &SAFE, &SENSITIVE, &REJECT],
    triggers: &[
        Trigger::Methods(&[MessageKind::Request], &["tools/call"]),
        Trigger::Methods(&[MessageKind::Result], &["tools/list"]),
    ],
    visitor: || Box::new(OnMessage(judge)),
};

/// The most annotations of one schema that are read.
const MOST_FIELDS: usize = 1_000;

/// Schemas are followed this many levels deep.
const DEEPEST: usize = 64;

/// The largest integer that every reader of JSON keeps.
const SAFEST: i128 = (1 << 53) - 1;

const NAME: &str = "x-mcp-header";

const OURS: Rule = Rule {
    span: Span::MODERN,
    source: "basic/transports/streamable-http#schema-extension; server/tools#x-mcp-header",
    ..Rule::BLANK.server()
};

static NON_EMPTY: Rule = Rule {
    id: "tools.x-mcp-header.nonempty",
    title: "`x-mcp-header` is not empty",
    why: "A header needs a name after Mcp-Param-; clients drop the whole tool.",
    fix: "Name the header, or leave the annotation out.",
    ..OURS
};

static TOKEN: Rule = Rule {
    id: "tools.x-mcp-header.token",
    title: "`x-mcp-header` is a token that a header's name can hold",
    why: "Spaces, colons and other characters cannot be sent in the name of a header; clients drop the whole tool.",
    fix: "Use letters, digits and hyphens.",
    ..OURS
};

static NO_CONTROL: Rule = Rule {
    id: "tools.x-mcp-header.no-ctl",
    title: "`x-mcp-header` has no control characters",
    why: "A line break in a header's name smuggles further headers into the request.",
    fix: "Take the control characters out.",
    ..OURS
};

static UNIQUE: Rule = Rule {
    id: "tools.x-mcp-header.unique",
    title: "No two `x-mcp-header` of a tool are equal, whatever their case",
    why: "Header names are case-insensitive, so one value would overwrite the other.",
    fix: "Give each parameter a name of its own.",
    ..OURS
};

static PRIMITIVE: Rule = Rule {
    id: "tools.x-mcp-header.primitive",
    title: "`x-mcp-header` annotates a string, an integer or a boolean",
    why: "Lists and objects have no spelling in a header, and fractions have several.",
    fix: "Annotate only parameters of these three types.",
    ..OURS
};

static REACHABLE: Rule = Rule {
    id: "tools.x-mcp-header.reachable",
    title: "`x-mcp-header` annotates a property reached only through `properties`",
    why: "Under `items`, `anyOf` or `$ref` it is not clear which value of a call is meant.",
    fix: "Move the parameter to the top of the schema or into a nested object.",
    ..OURS
};

static SAFE: Rule = Rule {
    id: "tools.x-mcp-header.safe-int",
    title: "Integers that go into headers lie within ±(2^53 − 1)",
    why: "Readers that keep numbers as doubles round larger ones, so header and body differ.",
    fix: "Use a string for larger numbers.",
    ..OURS
};

static SENSITIVE: Rule = Rule {
    id: "tools.x-mcp-header.sensitive",
    source: "server/tools#x-mcp-header",
    title: "`x-mcp-header` does not annotate a secret, as far as its name shows",
    why: "Headers are read, and often logged, by everything between client and server.",
    fix: "Leave the secret in the body, or do not let a model pass it at all.",
    ..OURS.should()
};

static REJECT: Rule = Rule {
    id: "tools.x-mcp-header.reject",
    needs: &[Need::Http],
    title: "A client does not call a tool whose `x-mcp-header` is invalid",
    why: "It cannot know which headers the server expects, and gateways would act on others.",
    fix: "Leave such tools out of the list, and say so in a log.",
    ..OURS.client()
};

/// A parameter that goes into a header.
pub(super) struct Field {
    /// The names of the properties that lead to it.
    pub(super) path: Vec<String>,
    /// What follows Mcp-Param- in the header's name.
    pub(super) header: String,
}

/// What a tool's schema says of headers.
pub(super) struct Annotations<'s> {
    pub(super) fields: Vec<Field>,
    /// What is wrong with them.
    faults: Vec<(&'static Rule, String, Json<'s>)>,
    /// Something at which it cannot be known whether the type is one of the three.
    untyped: bool,
}

impl Annotations<'_> {
    /// Whether clients have to leave the tool out.
    pub(super) fn are_invalid(&self) -> bool {
        !self.faults.is_empty()
    }
}

/// Reads the annotations of an input schema.
pub(super) fn annotations(schema: Json<'_>) -> Annotations<'_> {
    let mut all = Annotations { fields: Vec::new(), faults: Vec::new(), untyped: false };
    if memchr::memmem::find(schema.text().as_bytes(), NAME.as_bytes()).is_none() {
        return all;
    }
    walk(schema, Some(&mut Vec::new()), 0, &mut all);
    all
}

/// Looks at a schema; `path` is none where no call's value can be named only by properties.
fn walk<'s>(schema: Json<'s>, mut path: Option<&mut Vec<String>>, depth: usize, all: &mut Annotations<'s>) {
    if depth > DEEPEST || all.fields.len() + all.faults.len() >= MOST_FIELDS {
        return;
    }
    if let Some(name) = schema.member(NAME) {
        match path.as_deref().filter(|path| !path.is_empty()) {
            Some(path) => annotated(schema, name, path.clone(), all),
            None => {
                let wrong = format!("{} is not at a property", shown(name));
                all.faults.push((&REACHABLE, wrong, name));
            }
        }
    }
    for (keyword, value) in schema.members() {
        let keyword = keyword.to_str().unwrap_or_default();
        match &*keyword {
            "properties" => {
                for (name, value) in value.members() {
                    let name = String::from_utf8_lossy(&name.decode()).into_owned();
                    match path.as_deref_mut() {
                        Some(path) => {
                            path.push(name);
                            walk(value, Some(path), depth + 1, all);
                            path.pop();
                        }
                        None => walk(value, None, depth + 1, all),
                    }
                }
            }
            "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                for (_, value) in value.members() {
                    walk(value, None, depth + 1, all);
                }
            }
            "enum" | "const" | "default" | "examples" | NAME => {}
            _ if value.kind() == JsonKind::Object => walk(value, None, depth + 1, all),
            _ => {
                for item in value.items().filter(|item| item.kind() == JsonKind::Object) {
                    walk(item, None, depth + 1, all);
                }
            }
        }
    }
}

/// Judges an annotation at a property that can be reached.
fn annotated<'s>(schema: Json<'s>, name: Json<'s>, path: Vec<String>, all: &mut Annotations<'s>) {
    let mut fault =
        |rule: &'static Rule, wrong: String, value: Json<'s>| all.faults.push((rule, wrong, value));
    let Some(header) = text_of(name) else {
        return fault(&TOKEN, format!("`{NAME}` is {}: {}", name.kind().name(), shown(name)), name);
    };
    if header.is_empty() {
        fault(&NON_EMPTY, format!("`{NAME}` is empty"), name);
    } else if header.chars().any(char::is_control) {
        fault(&NO_CONTROL, format!("`{NAME}` is {}", shown(name)), name);
    } else if !header.chars().all(is_token) {
        fault(&TOKEN, format!("{} is not a token", shown(name)), name);
    }
    let kind = schema.member("type");
    match kind.and_then(text_of).as_deref() {
        Some("string" | "boolean") => {}
        Some("integer") => {
            let values = ["const", "default"].iter().filter_map(|keyword| schema.member(keyword));
            let listed = schema.member("enum").into_iter().flat_map(Json::items);
            for value in values.chain(listed).filter(|value| is_unsafe(*value)) {
                fault(&SAFE, format!("the integer {} is out of range", shown(value)), value);
            }
        }
        Some(other) => fault(&PRIMITIVE, format!("the parameter is of type {}", quoted(other)), name),
        // Several types, or none that stands here.
        None => all.untyped = true,
    }
    if !header.is_empty() && all.fields.iter().any(|field| field.header.eq_ignore_ascii_case(&header)) {
        all.faults.push((&UNIQUE, format!("{} occurs twice", shown(name)), name));
    }
    all.fields.push(Field { path, header: header.into() });
}

/// Whether a value is an integer beyond the safe range.
pub(super) fn is_unsafe(value: Json<'_>) -> bool {
    let Some(number) = value.as_number().filter(|number| !number.contains(['.', 'e', 'E'])) else {
        return false;
    };
    number.parse::<i128>().map_or(true, |number| number.abs() > SAFEST)
}

/// The value of a call's arguments at a path of properties.
pub(super) fn value_at<'a>(arguments: Json<'a>, path: &[String]) -> Option<Json<'a>> {
    path.iter().try_fold(arguments, |value, name| value.member(name))
}

fn judge(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    if let Some(result) = message.result_of("tools/list") {
        for tool in result.member("tools").into_iter().flat_map(Json::items) {
            listed(tool, at);
        }
    }
    if message.kind == MessageKind::Request && message.calls("tools/call") && at.side != Some(Side::Server) {
        called(message, at);
    }
}

fn listed(tool: Json<'_>, at: &RuleContext<'_>) {
    let Some(schema) = tool.member("inputSchema") else { return };
    let name = tool.member("name").map(shown).unwrap_or_default();
    let read = annotations(schema);
    for (rule, wrong, value) in &read.faults {
        at.fail(rule, Violation::new(format!("in the tool {name}, {wrong}")).inside(*value));
    }
    if read.untyped {
        at.inconclusive(&PRIMITIVE, "the schema gives no single type at an annotated parameter");
    }
    for field in &read.fields {
        let names = field.path.last().into_iter().chain([&field.header]);
        let secret = names.into_iter().find(|name| secrecy(name).is_some());
        at.without(&SENSITIVE, secret, |named| {
            Violation::new(format!("in the tool {name}, {} goes into a header", quoted(named))).inside(schema)
        });
    }
    let rules = [&NON_EMPTY, &TOKEN, &NO_CONTROL, &UNIQUE, &PRIMITIVE, &REACHABLE, &SAFE];
    for rule in rules.iter().filter(|_| !read.fields.is_empty()) {
        if !read.faults.iter().any(|(broken, ..)| broken.id == rule.id) {
            at.pass(rule);
        }
    }
}

fn called(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    let Some(name) = message.param("name").and_then(str_of) else { return };
    let Some(tool) = at.facts.tool(&name) else { return };
    let Some(schema) = tool.member("inputSchema") else { return };
    let read = annotations(schema);
    if read.fields.is_empty() && !read.are_invalid() {
        return;
    }
    at.check(&REJECT, !read.are_invalid(), || {
        let why = read.faults.first().map(|(_, wrong, _)| wrong.as_str()).unwrap_or_default();
        format!("the client calls {}, a tool in which {why}", quoted(&name))
    });
    let Some(arguments) = message.param("arguments") else { return };
    for value in read.fields.iter().filter_map(|field| value_at(arguments, &field.path)) {
        if is_unsafe(value) {
            let wrong = format!("the integer {} is to go into a header", shown(value));
            at.fail(&SAFE, Violation::new(wrong).inside(value).by(Party::Client));
        }
    }
}
