//! What lists and infos say about how things are shown and found: icons, templates, and when a resource was changed.

use super::tasks::times::moment;
use crate::engine::{
    Family, MessageKind, Report, RuleContext, RuleVisitor, Trigger, Violation, shown, string_of,
};
use crate::rule::Rule;
use crate::rule_text::{named, read_rules, rules_in};
use transcript::json::Json;

pub(super) const FAMILY: Family = Family {
    name: "offers",
    title: "Icons, templates and annotations",
    rules: &RULES,
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
    visitor: || Box::new(OffersState),
};

const TEXT: &str = include_str!("offers.toml");
static RULES: [Rule; rules_in(TEXT)] = read_rules(TEXT);

const SRC: &Rule = named(&RULES, "icons.src");
const SIZES: &Rule = named(&RULES, "icons.sizes");
const TEMPLATE: &Rule = named(&RULES, "resources.template");
const MODIFIED: &Rule = named(&RULES, "annotations.last-modified");

/// The lists of results whose items may have icons or annotations, and infos of those who speak.
const LISTS: [&str; 5] = ["tools", "prompts", "resources", "resourceTemplates", "content"];
const INFOS: [&str; 4] =
    ["clientInfo", "serverInfo", "io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/serverInfo"];

struct OffersState;

impl RuleVisitor for OffersState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        let Some(message) = at.message else { return };
        let Some(body) = message.raw.outcome().or_else(|| message.raw.params()) else { return };
        for place in [Some(body), body.member("_meta")].into_iter().flatten() {
            INFOS.iter().filter_map(|info| place.member(info)).for_each(|info| icons(info, at, report));
        }
        for item in LISTS.iter().filter_map(|list| body.member(list)).flat_map(Json::items) {
            icons(item, at, report);
            modified(item, at, report);
            if let Some(template) = item.member("uriTemplate") {
                let wrong = string_of(template).and_then(|text| template_fault(&text));
                report.check(TEMPLATE, at, wrong.is_none(), || {
                    let wrong =
                        format!("{} is not a template: {}", shown(template), wrong.unwrap_or_default());
                    Violation::new(wrong).inside(template)
                });
            }
        }
        for turn in body.member("messages").into_iter().flat_map(Json::items) {
            turn.member("content").into_iter().for_each(|content| modified(content, at, report));
        }
    }
}

fn icons(owner: Json<'_>, at: &RuleContext<'_>, report: &mut Report) {
    for icon in owner.member("icons").into_iter().flat_map(Json::items) {
        if let Some(src) = icon.member("src")
            && let Some(text) = string_of(src)
        {
            let scheme = text.split(':').next().unwrap_or_default().to_ascii_lowercase();
            report.check(SRC, at, matches!(&*scheme, "https" | "data"), || {
                Violation::new(format!("the icon is at {}", shown(src))).inside(src)
            });
        }
        for size in icon.member("sizes").into_iter().flat_map(Json::items) {
            let Some(text) = string_of(size) else { continue };
            let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let kept = text == "any"
                || text.split_once(['x', 'X']).is_some_and(|(width, height)| number(width) && number(height));
            report.check(SIZES, at, kept, || {
                Violation::new(format!("{} is not a size", shown(size))).inside(size)
            });
        }
    }
}

fn modified(item: Json<'_>, at: &RuleContext<'_>, report: &mut Report) {
    let time = item.member("annotations").and_then(|annotations| annotations.member("lastModified"));
    let Some((time, text)) = time.and_then(|time| Some((time, string_of(time)?))) else { return };
    report.check(MODIFIED, at, moment(&text).is_some(), || {
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
            return Some("between braces stands what is not a variable");
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
