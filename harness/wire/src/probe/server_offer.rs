//! What the server of a probe has to offer: tools, prompts and resources, each list in two pages.

use serde_json::{Value, json};
use transcript::revision::Revision;

/// What the server has to offer.
const SERVER: &str = include_str!("server.json");

/// The cursor of the second page of each list.
const CURSOR: &str = "concord-2";

/// What the server has to offer, by method.
#[derive(Debug, Default)]
pub(super) struct Offer(Value);

impl Offer {
    pub(super) fn new() -> Self {
        Self(serde_json::from_str(SERVER).unwrap_or_default())
    }

    /// The answer to `initialize` in a revision.
    pub(super) fn hello(&self, revision: Revision) -> Value {
        let mut result = self.0["initialize"].clone();
        result["protocolVersion"] = json!(revision.name());
        if revision < Revision::V2025_03_26
            && let Some(declared) = result["capabilities"].as_object_mut()
        {
            declared.remove("completions");
        }
        result
    }

    /// The answer to a request, or the code and the text of the error.
    pub(super) fn answer(&self, pages: bool, method: &str, params: &Value) -> Result<Value, (i64, String)> {
        let offer = &self.0;
        let (list, named) = (&offer["lists"][method], &offer["named"][method]);
        let refused = |code: i64, why: &str| Err((code, why.to_owned()));
        if let (Some(name), Some([first, rest @ ..])) =
            (list[0].as_str(), list[1].as_array().map(Vec::as_slice))
        {
            match params.get("cursor").map(|cursor| cursor.as_str()) {
                None if pages => Ok(json!({name: [first], "nextCursor": CURSOR})),
                None => Ok(json!({name: list[1]})),
                Some(Some(CURSOR)) => Ok(json!({name: rest})),
                Some(_) => refused(-32602, "there is no such cursor"),
            }
        } else if let Some(name) = named[0].as_str() {
            let is_known = named[2].as_array().is_some_and(|names| names.contains(&params[name]));
            let mut result = named[1].clone();
            if let Some(uri) = result.pointer_mut("/contents/0/uri") {
                *uri = params[name].clone();
            }
            match is_known {
                true => Ok(result),
                false if method.starts_with("resources/") => refused(-32002, "there is no such resource"),
                false => refused(-32602, "there is nothing of this name"),
            }
        } else {
            let plain = offer["plain"].get(method).cloned();
            plain.ok_or_else(|| (-32601, format!("there is no method {method}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Offer;
    use serde_json::json;
    use transcript::revision::Revision;

    #[test]
    fn lists_have_two_pages_and_names_are_known() {
        let offer = Offer::new();
        let first = offer.answer(true, "tools/list", &json!({})).unwrap();
        let rest = offer.answer(true, "tools/list", &json!({"cursor": first["nextCursor"]})).unwrap();
        assert_eq!(
            (first["tools"][0]["name"].as_str(), rest["tools"][0]["name"].as_str()),
            (Some("add"), Some("echo"))
        );
        assert!(rest.get("nextCursor").is_none());
        assert_eq!(offer.answer(true, "tools/list", &json!({"cursor": "x"})).unwrap_err().0, -32602);
        assert_eq!(offer.answer(true, "resources/read", &json!({"uri": "x"})).unwrap_err().0, -32002);
        assert_eq!(offer.answer(true, "nonsense", &json!({})).unwrap_err().0, -32601);
        assert!(offer.hello(Revision::V2024_11_05)["capabilities"].get("completions").is_none());
    }
}
