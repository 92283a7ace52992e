//! What a server asks a client for beneath a feature that the client declares.

use crate::engine::{Revision, RuleContext, Span, Violation, quoted, text_of};
use crate::rule::Rule;
use transcript::json::{Json, JsonKind};

pub(super) const NOT_SHOWN: &str = "the client's capabilities are not in the recording";

pub(super) static ELICITATION_MODE: Rule = Rule {
    id: "cap.elicitation.mode",
    span: Span::from(Revision::V2025_11_25),
    source: "client/elicitation#capabilities",
    title: "A server elicits only in the modes that the client declares",
    why: "A client without that mode cannot show the question, and refuses the request.",
    fix: "Look for `form` and `url` under `elicitation`; an empty object means `form`.",
    ..Rule::BLANK.server()
};

pub(super) static SAMPLING_TOOLS: Rule = Rule {
    id: "cap.sampling.tools",
    span: Span::from(Revision::V2025_11_25),
    source: "client/sampling#sampling-with-tools",
    title: "A server hands tools to a sampling client only if it declares `sampling.tools`",
    why: "A client without it refuses the request, or samples as if there were no tools.",
    fix: "Leave `tools` and `toolChoice` out where the client does not declare `sampling.tools`.",
    ..Rule::BLANK.server()
};

pub(super) static SAMPLING_CONTEXT: Rule = Rule {
    id: "cap.sampling.context",
    span: Span::from(Revision::V2025_11_25),
    source: "client/sampling#capabilities",
    title: "A server asks for context in a sample only if the client declares `sampling.context`",
    why: "Such a client adds no context, so the sample lacks what the server counts on.",
    fix: "Leave `includeContext` out, or ask for \"none\".",
    ..Rule::BLANK.should().server()
};

/// A request to the client: it may use no more than what the client declares beneath the feature.
pub(super) fn asks_client<'m>(
    method: &str,
    params: Json<'m>,
    declared: Option<Json<'_>>,
    at: &RuleContext<'m>,
) {
    let (feature, rules): (_, &[&'static Rule]) = match method {
        "elicitation/create" => ("elicitation", &[&ELICITATION_MODE]),
        "sampling/createMessage" => ("sampling", &[&SAMPLING_TOOLS, &SAMPLING_CONTEXT]),
        _ => return,
    };
    let Some(declared) = declared else {
        return rules.iter().for_each(|rule| at.inconclusive(rule, NOT_SHOWN));
    };
    // Without the feature itself it is asked for in vain, whatever stands beneath it.
    let feature = declared.member(feature).filter(|value| value.kind() == JsonKind::Object);
    let Some(feature) = feature else { return };
    let has =
        |name: &str| feature.member(name).is_some_and(|value| !matches!(value.text(), "false" | "null"));
    if method == "elicitation/create" {
        let mode = params.member("mode").and_then(text_of).unwrap_or_else(|| "form".into());
        let kept = has(&mode) || *mode == *"form" && !has("url");
        return at.check(&ELICITATION_MODE, kept, || {
            let wrong = format!("the mode is {}, which the client does not declare", quoted(&mode));
            Violation::new(wrong).inside(params.member("mode").unwrap_or(params))
        });
    }
    if let Some(tools) = params.member("tools").or_else(|| params.member("toolChoice")) {
        at.check(&SAMPLING_TOOLS, has("tools"), || {
            Violation::new("tools are handed over, and the client does not declare `sampling.tools`")
                .inside(tools)
        });
    }
    if let Some(context) = params.member("includeContext")
        && !context.as_text().is_some_and(|context| context.is("none"))
    {
        at.check(&SAMPLING_CONTEXT, has("context"), || {
            let wrong = "context is asked for, and the client does not declare `sampling.context`";
            Violation::new(wrong).inside(context)
        });
    }
}
