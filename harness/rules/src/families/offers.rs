//! What lists and infos say about how things are shown and found: icons, templates, and when a resource was changed.

use super::tasks::times::moment;
use crate::engine::{
    Family, MessageKind, OnMessage, Revision, RuleContext, SeenMessage, Span, Trigger, Violation, shown,
    string_of,
};
use crate::rule::Rule;
use transcript::json::Json;

pub(super) const FAMILY: Family = Family {
    name: "offers",
    title: "Icons, templates and annotations",
    rules: &[&SRC, &SIZES, &TEMPLATE, &MODIFIED],
    triggers: &[
        Trigger::Methods(&[MessageKind::Request], &["initialize", "server/discover"]),
        Trigger::Methods(
            &[MessageKind::Result],
            &[
                "initialize",
                "server/discover",
                "tools/list",
                "tools/call",
                "prompts/list",
                "prompts/get",
                "resources/list",
                "resources/templates/list",
            ],
        ),
    ],
    visitor: || Box::new(OnMessage(judge)),
};

const OURS: Rule = Rule { span: Span::from(Revision::V2025_11_25), ..Rule::BLANK.should() };

static SRC: Rule = Rule {
    id: "icons.src",
    source: "basic/index#icons",
    title: "An icon is at an https address, or in a `data:` URI",
    why: "Clients must refuse icons of other schemes, so nothing is shown.",
    fix: "Serve the icon over https, or put it into the list as data:image/png;base64,….",
    ..OURS
};

static SIZES: Rule = Rule {
    id: "icons.sizes",
    source: "schema, Icon",
    title: "The sizes of an icon are spelled like 48x48, or `any`",
    why: "Clients choose by size, and skip an icon whose size they cannot read.",
    fix: "Write width, `x` and height in pixels, and `any` for what scales.",
    ..OURS
};

static TEMPLATE: Rule = Rule {
    id: "resources.template",
    span: Span::ALL,
    source: "server/resources#resource-templates; RFC 6570, section 2",
    title: "The `uriTemplate` of a resource is a valid template by RFC 6570",
    why: "Clients expand it, and either fail or ask for an address that the server does not know.",
    fix: "Close each brace, and name variables with letters, digits, `_` and dots: file:///{path}.",
    ..OURS.server()
};

static MODIFIED: Rule = Rule {
    id: "annotations.last-modified",
    span: Span::from(Revision::V2025_06_18),
    source: "server/resources#annotations",
    title: "`lastModified` is a time in ISO 8601",
    why: "Clients sort by it, and cannot read other times.",
    fix: "Write times such as 2025-01-12T15:00:58Z.",
    ..OURS.server()
};

/// The lists of results whose items may have icons or annotations, and infos of those who speak.
const LISTS: [&str; 5] = ["tools", "prompts", "resources", "resourceTemplates", "content"];
const INFOS: [&str; 4] =
    ["clientInfo", "serverInfo", "io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/serverInfo"];

fn judge(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    let Some(body) = message.raw.outcome().or_else(|| message.raw.params()) else { return };
    for place in [Some(body), body.member("_meta")].into_iter().flatten() {
        INFOS.iter().filter_map(|info| place.member(info)).for_each(|info| icons(info, at));
    }
    for item in LISTS.iter().filter_map(|list| body.member(list)).flat_map(Json::items) {
        icons(item, at);
        modified(item, at);
        if let Some(template) = item.member("uriTemplate") {
            let wrong = string_of(template).and_then(|text| template_fault(&text));
            at.without(&TEMPLATE, wrong, |wrong| {
                Violation::new(format!("{} is not a template: {wrong}", shown(template))).inside(template)
            });
        }
    }
    for turn in body.member("messages").into_iter().flat_map(Json::items) {
        turn.member("content").into_iter().for_each(|content| modified(content, at));
    }
}

fn icons(owner: Json<'_>, at: &RuleContext<'_>) {
    for icon in owner.member("icons").into_iter().flat_map(Json::items) {
        if let Some(src) = icon.member("src")
            && let Some(text) = string_of(src)
        {
            let scheme = text.split(':').next().unwrap_or_default().to_ascii_lowercase();
            at.check(&SRC, matches!(&*scheme, "https" | "data"), || {
                Violation::new(format!("the icon is at {}", shown(src))).inside(src)
            });
        }
        for size in icon.member("sizes").into_iter().flat_map(Json::items) {
            let Some(text) = string_of(size) else { continue };
            let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let kept = text == "any"
                || text.split_once(['x', 'X']).is_some_and(|(width, height)| number(width) && number(height));
            at.check(&SIZES, kept, || Violation::new(format!("{} is not a size", shown(size))).inside(size));
        }
    }
}

fn modified(item: Json<'_>, at: &RuleContext<'_>) {
    let time = item.member("annotations").and_then(|annotations| annotations.member("lastModified"));
    let Some((time, text)) = time.and_then(|time| Some((time, string_of(time)?))) else { return };
    at.check(&MODIFIED, moment(&text).is_some(), || {
        Violation::new(format!("{} is not a time in ISO 8601", shown(time))).inside(time)
    });
}

/// What is wrong with a template.
fn template_fault(text: &str) -> Option<&'static str> {
    let mut rest = text;
    loop {
        let Some((literal, behind)) = rest.split_once('{') else {
            return rest.contains('}').then_some("a brace is closed that is not open");
        };
        if literal.contains('}') {
            return Some("a brace is closed that is not open");
        }
        let Some((expression, behind)) = behind.split_once('}') else {
            return Some("a brace is not closed");
        };
        let variables = expression.strip_prefix(['+', '#', '.', '/', ';', '?', '&']).unwrap_or(expression);
        if !variables.split(',').all(is_variable) {
            return Some("what is between braces is not a variable");
        }
        rest = behind;
    }
}

fn is_variable(text: &str) -> bool {
    let (name, length) =
        text.trim_end_matches('*').split_once(':').unwrap_or((text.trim_end_matches('*'), "1"));
    let digits = !length.is_empty() && length.len() <= 4 && length.bytes().all(|byte| byte.is_ascii_digit());
    let letters = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'%'))
    };
    digits && name.split('.').all(letters)
}

#[cfg(test)]
mod tests {
    use super::template_fault;

    #[test]
    fn templates_have_a_grammar() {
        for good in ["file:///{path}", "x://{+a.b}/{c*}{?q,r:30}", "plain:text", "{/a,b}{#c}"] {
            assert_eq!(template_fault(good), None, "{good}");
        }
        for bad in ["x://{a", "x://a}", "x://{}", "x://{a-b}", "x://{a:b}", "x://{ a }", "x://{a{b}}", "{=a}"]
        {
            assert!(template_fault(bad).is_some(), "{bad}");
        }
    }
}
