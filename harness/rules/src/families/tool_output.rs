//! What a call of a tool brings back.
//!
//! Content, structured content, and the `outputSchema` that it was promised to fit. Memory: compiled schemas as
//! `Schemas` says.

use super::tools::is_error;
use crate::engine::{
    Base64, ContentsKind, Definition, Family, Fit, MessageKind, Revision, RuleContext, RuleVisitor, Schemas,
    SeenMessage, Span, TAKEN_OUT, ToolList, Trigger, Violation, contents, embedded, part, read_base64, shown,
    str_of, string_of,
};
use crate::rule::{Level, Rule};
use crate::shapes::{Fault, Typed};
use transcript::json::{Json, JsonKind, JsonString};

pub(super) const FAMILY: Family = Family {
    name: "tool-output",
    title: "What tools bring back",
    rules: &[&CONTENT, &TYPE, &BASE64, &OBJECT, &CONFORMS, &PRESENT, &MIRROR, &MEDIA_TYPE],
    triggers: &[
        Trigger::Methods(&[MessageKind::Notification], &["notifications/tools/list_changed"]),
        Trigger::Methods(&[MessageKind::Request], &["initialize", "sampling/createMessage"]),
        Trigger::Methods(
            &[MessageKind::Result],
            &["tools/list", "tools/call", "prompts/get", "resources/read"],
        ),
    ],
    visitor: || Box::new(ToolOutputState::default()),
};

const STRUCTURED: Span = Span::from(Revision::V2025_06_18);

static CONTENT: Rule = Rule {
    id: "tools.result.content",
    source: "schema, CallToolResult",
    title: "The result of a call has a `content` list, even beside `structuredContent`",
    why: "Typed clients refuse a result without it, so the call fails although the tool worked.",
    fix: "Send a list of blocks; an empty one where there is nothing to say.",
    ..Rule::BLANK.server()
};

static TYPE: Rule = Rule {
    id: "tools.content.type",
    source: "server/tools#tool-result; schema, ContentBlock",
    title: "Each block of a tool's content has a type of its revision, and is complete",
    why: "Typed clients refuse the whole result for one block that they do not know.",
    fix: "Send text, image, resource (from 2025-03-26 on audio, from 2025-06-18 on resource_link) with the members \
          that the type asks for; a failure is text beside `isError`.",
    ..Rule::BLANK.server()
};

static BASE64: Rule = Rule {
    id: "tools.content.base64",
    source: "server/prompts#image-content; server/resources#security-considerations",
    title: "The data of images, audio and blobs is base64",
    why: "What does not decode is lost: the client shows nothing, or fails as a whole.",
    fix: "Encode with the standard alphabet and padding, and send neither a `data:` prefix nor line breaks.",
    softened: Some("a warning where the base64 is readable and not strict"),
    ..Rule::BLANK.server()
};

static OBJECT: Rule = Rule {
    id: "tools.structured.object",
    span: Span::between(Revision::V2025_06_18, Revision::V2025_11_25),
    source: "schema, CallToolResult",
    title: "`structuredContent` is an object",
    why: "Lists and plain values came with 2026-07-28; clients of these revisions refuse them.",
    fix: "Wrap the value into an object, such as {\"result\": …}.",
    ..Rule::BLANK.server()
};

static CONFORMS: Rule = Rule {
    id: "tools.output.conforms",
    span: STRUCTURED,
    source: "server/tools#output-schema",
    title: "`structuredContent` fits the tool's `outputSchema`",
    why: "Clients validate it and throw the result away if it does not fit.",
    fix: "Make the schema say what the tool returns, or the tool return what the schema says.",
    softened: Some("a note where `isError` is true"),
    contested: Some("Nothing says whether it holds where `isError` is true; SDKs of clients differ."),
    ..Rule::BLANK.server()
};

static PRESENT: Rule = Rule {
    id: "tools.output.present",
    span: STRUCTURED,
    source: "server/tools#output-schema",
    title: "A tool with an `outputSchema` returns `structuredContent`",
    why: "Clients that were promised structure take its absence for an error.",
    fix: "Return `structuredContent`, or take `outputSchema` away.",
    contested: Some("Nothing says whether it holds where `isError` is true; such results are let pass here."),
    ..Rule::BLANK.server()
};

static MEDIA_TYPE: Rule = Rule {
    id: "content.media-type",
    source: "schema, ImageContent; RFC 2045, section 5.1",
    title: "`mimeType` is a media type, such as image/png",
    why: "Clients choose by it how to show the content, and know no type `png`.",
    fix: "Write the type with its subtype: image/png, audio/wav, text/plain.",
    ..Rule::BLANK.server()
};

static MIRROR: Rule = Rule {
    id: "tools.output.text-mirror",
    span: STRUCTURED,
    source: "server/tools#structured-content",
    title: "A text block repeats `structuredContent` as JSON",
    why: "Clients that know no structured content see only the text.",
    fix: "Add a text block that holds the same JSON.",
    ..Rule::BLANK.should().server()
};

const LISTED_AGAIN: &str =
    "the tools were listed again while the call was under way, and the tool may have been another before";

static BLOCK: Typed = Typed::new("CallToolResult", "content");

/// Longer structured content is not looked for in the text.
const LONGEST: usize = 256 << 10;

/// The most blocks that are looked through for the text of structured content.
const MOST_TEXTS: usize = 20;

#[derive(Default)]
struct ToolOutputState {
    list: ToolList,
    schemas: Schemas,
}

impl RuleVisitor for ToolOutputState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let _ = self.list.see(at);
        if message.kind == MessageKind::Request {
            return turns(message.param("messages"), at);
        }
        match whole_result(message) {
            Some(("tools/call", result)) => self.result(result, at),
            Some(("prompts/get", result)) => turns(result.member("messages"), at),
            Some(("resources/read", result)) => {
                for resource in result.member("contents").into_iter().flat_map(Json::items) {
                    media_type(resource, at);
                    digits(resource.member("blob"), at);
                }
            }
            _ => {}
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        at.reached(self.schemas.spent());
    }
}

/// The result of a request, where it is what was asked for and neither a task nor a question, with the request's method.
pub(super) fn whole_result<'m>(message: &SeenMessage<'m>) -> Option<(&'m str, Json<'m>)> {
    let request = message.request().filter(|_| message.kind == MessageKind::Result)?;
    let result = message.raw.outcome().filter(|result| result.kind() == JsonKind::Object)?;
    if let Some(kind) = result.member("resultType")
        && kind.as_text().and_then(|kind| kind.to_str()).is_some_and(|kind| kind != "complete")
    {
        return None;
    }
    let is_task = result.member("task").is_some() && request.param("task").is_some();
    (!is_task).then_some((request.method(), result))
}

impl ToolOutputState {
    fn result(&mut self, result: Json<'_>, at: &RuleContext<'_>) {
        let content = result.member("content");
        match content {
            Some(content) if content.kind() == JsonKind::Array => {
                at.pass(&CONTENT);
                for item in content.items() {
                    let fault = block_fault(item, at.revision);
                    at.without(&TYPE, fault, |fault| Violation::new(fault.wrong).inside(fault.place));
                    data(item, at);
                }
            }
            Some(content) => {
                let wrong = format!("`content` is {}, not a list", content.kind().name());
                at.fail(&CONTENT, Violation::new(wrong).inside(content));
            }
            None => at.fail(&CONTENT, Violation::new("the result has no `content`").inside(result)),
        }
        let structured = result.member("structuredContent");
        if let Some(structured) = structured {
            at.check(&OBJECT, structured.kind() == JsonKind::Object, || {
                Violation::new(format!("`structuredContent` is {}", structured.kind().name()))
                    .inside(structured)
            });
        }
        // A flag that is neither true nor false may mean both, and is a fault of its own.
        let unclear = result.member("isError").is_some_and(|flag| flag.kind() != JsonKind::Bool);
        let failed = unclear || is_error(result);
        // What is not an object fits no schema of these revisions, and that is a finding of its own.
        if structured.map_or(!failed, |value| value.kind() == JsonKind::Object || !at.binds(&OBJECT)) {
            self.output(structured, failed, at);
        }
        if !failed
            && let Some(structured) =
                structured.filter(|value| value.kind() != JsonKind::Null && at.binds(&MIRROR))
        {
            mirror(structured, result, content, at);
        }
    }

    fn output(&mut self, structured: Option<Json<'_>>, failed: bool, at: &RuleContext<'_>) {
        let Some(request) = at.message.and_then(SeenMessage::request) else { return };
        let name = request.param("name").and_then(str_of).unwrap_or_default();
        let tool = match self.list.find(at.facts, &name) {
            Definition::Listed(tool) => tool,
            Definition::Missing => return,
            Definition::Unsure(why) => {
                if structured.is_some() {
                    at.inconclusive(&CONFORMS, why);
                }
                return;
            }
        };
        let schema = tool.member("outputSchema").filter(|schema| schema.kind() != JsonKind::Null);
        let Some(schema) = schema else { return };
        let during = self.list.came_during(request);
        let Some(structured) = structured else {
            if during {
                return at.inconclusive(&PRESENT, LISTED_AGAIN);
            }
            let wrong =
                Violation::new("the tool has an `outputSchema`, and the result no `structuredContent`");
            return at.fail(&PRESENT, wrong.see(request.location(), "the call"));
        };
        if !failed {
            at.pass(&PRESENT);
        }
        if at.redacted(schema) {
            return at.inconclusive(&CONFORMS, TAKEN_OUT);
        }
        match self.schemas.fit(schema, structured) {
            Fit::Fits => at.pass(&CONFORMS),
            Fit::Unsure(why) => at.inconclusive(&CONFORMS, why),
            Fit::Unfit(..) if during => at.inconclusive(&CONFORMS, LISTED_AGAIN),
            Fit::Unfit(..) if at.redacted(structured) => {
                at.inconclusive(&CONFORMS, TAKEN_OUT);
            }
            Fit::Unfit(why, pointer) => {
                let whose = if failed { " of a failed call" } else { "" };
                let wrong = format!("`structuredContent`{whose} does not fit `outputSchema`: {why}");
                let wrong = Violation::new(wrong).inside(part(structured, &pointer));
                at.fail(&CONFORMS, if failed { wrong.only(Level::Info) } else { wrong });
            }
        }
    }
}

/// What is wrong with a block of content, but for what an embedded resource holds, which has a rule of its own.
fn block_fault(block: Json<'_>, revision: Option<Revision>) -> Option<Box<Fault<'_>>> {
    let fault = BLOCK.fault(block, revision)?;
    let neither = embedded(block).is_some_and(|resource| {
        contents(resource) == ContentsKind::Neither
            && resource.member("uri").is_some_and(|uri| uri.kind() == JsonKind::String)
    });
    (!neither).then_some(fault)
}

/// Some text says the same as the structured content. Libraries wrap what is not an object into `{"result": …}` or the like
/// and write the bare value into the text, a list item by item; that says the same, too.
fn mirror(structured: Json<'_>, result: Json<'_>, content: Option<Json<'_>>, at: &RuleContext<'_>) {
    let content = content.filter(|content| content.kind() == JsonKind::Array && !at.redacted(result));
    let Some(content) = content else {
        return at.inconclusive(&MIRROR, "the text that would decide it is missing");
    };
    if structured.text().len() > LONGEST {
        return at.inconclusive(&MIRROR, "the structured content is longer than 256 KiB");
    }
    let texts = || {
        let blocks = content.items().take(MOST_TEXTS);
        blocks.filter_map(|block| block.member("text")?.as_text())
    };
    let mut members = structured.members();
    let bare = match (members.next(), members.next()) {
        (Some((_, bare)), None) => bare,
        _ => structured,
    };
    let item_by_item = || {
        let texts: Vec<JsonString<'_>> = texts().filter(|text| text.to_str().is_some()).collect();
        bare.items().count() == texts.len()
            && texts.iter().zip(bare.items()).all(|(text, item)| says(*text, item))
    };
    let kept = texts().any(|text| says(text, bare))
        || bare.text() != structured.text() && texts().any(|text| says(text, structured))
        || bare.kind() == JsonKind::Array && item_by_item();
    if !kept && content.items().nth(MOST_TEXTS).is_some() {
        return at.inconclusive(&MIRROR, "there are more blocks of text than are looked through");
    }
    at.check(&MIRROR, kept, || {
        Violation::new("no block of text holds the JSON of `structuredContent`").inside(structured)
    });
}

/// Whether a text is a value's JSON, or the string that it is.
fn says(text: JsonString<'_>, value: Json<'_>) -> bool {
    // Most texts are prose, which begins like no object and no list. What is escaped may be anything.
    if let Some(open @ ('{' | '[')) = value.text().chars().next()
        && !text.raw().trim_start().starts_with([open, '\\'])
    {
        return false;
    }
    let Some(text) = text.to_str() else { return false };
    str_of(value).is_some_and(|string| string == text)
        || Json::parse(&text).is_ok_and(|parsed| parsed.same(value) || nearly(parsed, value))
}

/// Whether two values are equal once their numbers are doubles: a recorder may have rounded one of them.
fn nearly(one: Json<'_>, other: Json<'_>) -> bool {
    let read = |value: Json<'_>| serde_json::from_str::<serde_json::Value>(value.text()).ok();
    fn same(one: &serde_json::Value, other: &serde_json::Value) -> bool {
        use serde_json::Value::{Array, Number, Object};
        match (one, other) {
            (Number(one), Number(other)) => one.as_f64() == other.as_f64(),
            (Array(one), Array(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
            }
            (Object(one), Object(other)) => {
                one.len() == other.len()
                    && one.iter().all(|(name, value)| other.get(name).is_some_and(|other| same(value, other)))
            }
            _ => one == other,
        }
    }
    matches!((read(one), read(other)), (Some(one), Some(other)) if same(&one, &other))
}

/// The content of messages to or from a model, each of a block or of several.
fn turns(messages: Option<Json<'_>>, at: &RuleContext<'_>) {
    for content in messages.into_iter().flat_map(Json::items).filter_map(|turn| turn.member("content")) {
        let several = (content.kind() == JsonKind::Array).then(|| content.items());
        several.map_or_else(|| data(content, at), |blocks| blocks.for_each(|block| data(block, at)));
    }
}

fn media_type(media: Json<'_>, at: &RuleContext<'_>) {
    let Some(media) = media.member("mimeType") else { return };
    let Some(text) = string_of(media) else { return };
    let whole = text.split_once('/').is_some_and(|(kind, rest)| !kind.is_empty() && !rest.is_empty());
    at.check(&MEDIA_TYPE, whole, || {
        Violation::new(format!("{} is not a media type", shown(media))).inside(media)
    });
}

/// The base64 of a block of content, whatever block it is.
fn data(block: Json<'_>, at: &RuleContext<'_>) {
    for media in [Some(block), block.member("resource")].into_iter().flatten() {
        media_type(media, at);
    }
    if let Some(resource) = embedded(block).filter(|resource| contents(*resource) != ContentsKind::Text) {
        digits(resource.member("blob"), at);
    }
    let data = block.member("data").filter(|_| {
        let kind = block.member("type").and_then(Json::as_text);
        kind.is_some_and(|kind| kind.is("image") || kind.is("audio"))
    });
    digits(data, at);
}

fn digits(value: Option<Json<'_>>, at: &RuleContext<'_>) {
    let Some(value) = value else { return };
    let Some(text) = string_of(value) else { return };
    match read_base64(&text) {
        Base64::Good => at.pass(&BASE64),
        Base64::Loose(why) => {
            let wrong = Violation::new(format!("the base64 is not strict: {why}")).inside(value);
            at.fail(&BASE64, wrong.only(Level::Should));
        }
        Base64::Bad(why) => {
            at.fail(&BASE64, Violation::new(format!("the data is not base64: {why}")).inside(value));
        }
    }
}
