//! The normal form of a meaning, held to its own words.
//!
//! Which members an event of each kind has, and what `answers` may point at. Expected meanings are written by hand; a
//! slip in one would fail every importer.

use transcript::json::{Json, JsonKind};

/// Something in a meaning that the normal form does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormError {
    /// JSON pointer to the place.
    pub at: String,
    /// What is wrong there.
    pub message: String,
}

/// The text as one JSON value.
///
/// # Errors
/// A sentence with the byte where the text stops being JSON.
pub fn parse(text: &str) -> Result<Json<'_>, String> {
    Json::parse(text).map_err(|fault| format!("expected {} at byte {}", fault.expected, fault.at))
}

/// Everything in `meaning` that the normal form does not allow.
pub fn check(meaning: Json<'_>) -> Vec<FormError> {
    let mut check = Check::default();
    check.members(
        "",
        meaning,
        &["events", "authorization_discovery"],
        &["events", "authorization_discovery"],
    );
    let events = meaning.member("events");
    if let Some(events) = events.filter(|events| check.is("/events", *events, JsonKind::Array)) {
        let events: Vec<Json<'_>> = events.items().collect();
        let mut answered = vec![false; events.len()];
        for (index, event) in events.iter().enumerate() {
            check.event(index, *event, &events, &mut answered);
        }
    }
    if let Some(summary) = meaning.member("authorization_discovery").filter(|it| it.kind() != JsonKind::Null)
    {
        check.summary(summary);
    }
    check.slips
}

/// Members that every event of a kind has, and those that it may have besides.
const KINDS: &[(&str, &[&str], &[&str])] = &[
    ("tool_call", &["kind"], &["kind", "id", "tool", "arguments"]),
    ("request", &["kind", "id", "method"], &["kind", "id", "method", "params"]),
    ("notification", &["kind", "method"], &["kind", "method", "params"]),
    ("result", &["kind", "answers", "result"], &["kind", "id", "answers", "result"]),
    ("error", &["kind", "answers", "error"], &["kind", "id", "answers", "error"]),
];

/// The members of the K2-A summary, and what each may be.
const SUMMARY: &[(&str, &[&str])] = &[
    ("visible", &["true"]),
    ("source_kind", &["\"www_authenticate\""]),
    ("resource_metadata_visible", &["true", "false"]),
    ("authorization_servers_visible", &["false"]),
    ("scope_challenge_visible", &["true", "false"]),
];

#[derive(Default)]
struct Check {
    slips: Vec<FormError>,
}

impl Check {
    fn event(&mut self, index: usize, event: Json<'_>, events: &[Json<'_>], answered: &mut [bool]) {
        let at = format!("/events/{index}");
        let Some((kind, needed, allowed)) =
            KINDS.iter().find(|(kind, ..)| event.member("kind").is_some_and(|it| is(it, kind)))
        else {
            let names: Vec<&str> = KINDS.iter().map(|(kind, ..)| *kind).collect();
            return self.say(&format!("{at}/kind"), format!("an event has a kind: {}", names.join(", ")));
        };
        self.members(&at, event, needed, allowed);
        for name in ["id", "method"] {
            if let Some(value) = event.member(name) {
                self.is(&format!("{at}/{name}"), value, JsonKind::String);
            }
        }
        let answers = event.member("answers").filter(|answers| answers.kind() != JsonKind::Null);
        if let Some(answers) = answers {
            self.answers(&format!("{at}/answers"), (index, *kind), answers, events, answered);
        }
    }

    /// An answer names an earlier request or tool call with its own id, which nothing answered before.
    fn answers(
        &mut self,
        at: &str,
        (index, kind): (usize, &str),
        answers: Json<'_>,
        events: &[Json<'_>],
        answered: &mut [bool],
    ) {
        let Some(asked) = answers.text().parse::<usize>().ok().filter(|asked| *asked < index) else {
            return self.say(at, format!("a {kind} answers the index of an earlier event, or null"));
        };
        let request = events[asked];
        let asks = request.member("kind").is_some_and(|it| is(it, "request") || is(it, "tool_call"));
        match (request.member("id"), events[index].member("id")) {
            _ if !asks => self.say(at, format!("event {asked} is neither a request nor a tool call")),
            (Some(asked_id), Some(id)) if asked_id.same(id) => {
                if std::mem::replace(&mut answered[asked], true) {
                    self.say(at, format!("event {asked} was answered before"));
                }
            }
            _ => self.say(at, format!("event {asked} has another id")),
        }
    }

    fn summary(&mut self, summary: Json<'_>) {
        let at = "/authorization_discovery";
        let names: Vec<&str> = SUMMARY.iter().map(|(name, _)| *name).collect();
        self.members(at, summary, &names, &names);
        for (name, allowed) in SUMMARY {
            if let Some(value) = summary.member(name).filter(|value| !allowed.contains(&value.text())) {
                let message = format!("{} is not {}", value.text(), allowed.join(" or "));
                self.say(&format!("{at}/{name}"), message);
            }
        }
    }

    /// `value` is an object with all of `needed`, none but `allowed`, and nothing twice.
    fn members(&mut self, at: &str, value: Json<'_>, needed: &[&str], allowed: &[&str]) {
        if !self.is(at, value, JsonKind::Object) {
            return;
        }
        let names: Vec<String> =
            value.members().map(|(name, _)| String::from_utf8_lossy(&name.decode()).into_owned()).collect();
        for name in needed.iter().filter(|name| names.iter().all(|it| it != *name)) {
            self.say(at, format!("`{name}` is missing"));
        }
        for (index, name) in names.iter().enumerate() {
            if !allowed.contains(&name.as_str()) {
                self.say(at, format!("`{name}` has no place here: {}", allowed.join(", ")));
            } else if names[..index].contains(name) {
                self.say(at, format!("`{name}` appears twice"));
            }
        }
    }

    fn is(&mut self, at: &str, value: Json<'_>, kind: JsonKind) -> bool {
        if value.kind() != kind {
            self.say(at, format!("{} where {} belongs", value.kind().name(), kind.name()));
        }
        value.kind() == kind
    }

    fn say(&mut self, at: &str, message: String) {
        self.slips.push(FormError { at: at.to_owned(), message });
    }
}

pub(crate) fn is(value: Json<'_>, text: &str) -> bool {
    value.as_text().is_some_and(|value| value.is(text))
}

#[cfg(test)]
mod tests {
    use super::{check, parse};

    fn slips(events: &str, summary: &str) -> Vec<String> {
        let text = format!("{{\"events\": [{events}], \"authorization_discovery\": {summary}}}");
        check(parse(&text).unwrap())
            .into_iter()
            .map(|slip| format!("{}: {}", slip.at, slip.message))
            .collect()
    }

    const CALL: &str = r#"{"kind": "tool_call", "id": "1", "tool": "a", "arguments": {}}"#;

    #[test]
    fn a_well_formed_meaning_has_no_slips() {
        let events = [
            r#"{"kind": "request", "id": "0", "method": "initialize", "params": {}}"#,
            r#"{"kind": "result", "id": "0", "answers": 0, "result": null}"#,
            r#"{"kind": "notification", "method": "notifications/initialized"}"#,
            CALL,
            r#"{"kind": "error", "id": "1", "answers": 3, "error": {}}"#,
            r#"{"kind": "result", "answers": null, "result": {}}"#,
            r#"{"kind": "tool_call"}"#,
        ];
        let summary = r#"{"visible": true, "source_kind": "www_authenticate", "resource_metadata_visible": true,
            "authorization_servers_visible": false, "scope_challenge_visible": false}"#;
        assert_eq!(slips(&events.join(","), "null"), [""; 0]);
        assert_eq!(slips("", summary), [""; 0]);
    }

    #[test]
    fn each_slip_has_its_place() {
        for (events, slip) in [
            (r#"{"kind": "call"}"#, "/events/0/kind: an event has a kind"),
            ("7", "/events/0/kind: an event has a kind"),
            (r#"{"kind": "tool_call", "id": 1}"#, "/events/0/id: a number where a string belongs"),
            (r#"{"kind": "request", "method": "a"}"#, "/events/0: `id` is missing"),
            (r#"{"kind": "notification", "id": "1", "method": "a"}"#, "/events/0: `id` has no place here"),
            (r#"{"kind": "tool_call", "tool": "a", "tool": "b"}"#, "/events/0: `tool` appears twice"),
            (r#"{"kind": "result", "result": 1}"#, "/events/0: `answers` is missing"),
            (r#"{"kind": "result", "answers": 0, "result": 1}"#, "/events/0/answers: a result answers the"),
        ] {
            let found = slips(events, "null");
            assert!(found.iter().any(|it| it.starts_with(slip)), "{events}: {found:?}");
        }
        let answer = |id: &str, to: u32| {
            format!("{{\"kind\":\"result\",\"id\":\"{id}\",\"answers\":{to},\"result\":1}}")
        };
        for (answers, slip) in [
            (answer("2", 0), "/events/1/answers: event 0 has another id"),
            (answer("1", 0) + "," + &answer("1", 0), "/events/2/answers: event 0 was answered before"),
            (answer("1", 0) + "," + &answer("1", 1), "/events/2/answers: event 1 is neither"),
        ] {
            let found = slips(&format!("{CALL},{answers}"), "null");
            assert!(found.len() == 1 && found[0].starts_with(slip), "{answers}: {found:?}");
        }
        assert_eq!(slips("", "{}").len(), 5);
        assert!(!check(parse("[]").unwrap()).is_empty());
    }
}
