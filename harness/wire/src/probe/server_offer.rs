//! What the server of a probe has to offer: tools, prompts and resources, each list in two pages.

use super::script::Part;
use serde_json::{Value, json};
use transcript::revision::Revision;

/// What the server has to offer.
const SERVER: &str = include_str!("server.json");

/// The cursor of the second page of each list.
const CURSOR: &str = "concord-2";

/// The methods that the revision without handshake has no more.
const REMOVED: &[&str] = &["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// What the server has to offer in a part of the script, by method.
#[derive(Debug, Default)]
pub(super) struct Offer {
    by_method: Value,
    /// Lists have two pages. A cursor of a session that is forgotten would be nobody's.
    pages: bool,
    /// Requests stand by themselves.
    pub(super) modern: bool,
}

impl Offer {
    pub(super) fn new(part: Part) -> Self {
        let by_method = serde_json::from_str(SERVER).unwrap_or_default();
        Self { by_method, pages: part != Part::Over, modern: part == Part::Modern }
    }

    /// The answer to `initialize` in a revision.
    pub(super) fn hello(&self, revision: Revision) -> Value {
        let mut result = self.by_method["initialize"].clone();
        result["protocolVersion"] = json!(revision.name());
        if revision < Revision::V2025_03_26
            && let Some(declared) = result["capabilities"].as_object_mut()
        {
            declared.remove("completions");
        }
        result
    }

    /// The answer to a request, or the code and the text of the error.
    pub(super) fn answer(&self, method: &str, params: &Value) -> Result<Value, (i64, String)> {
        if !self.modern {
            return self.plain(method, params);
        }
        let mut result = match method {
            "server/discover" => {
                let hello = self.hello(Revision::V2026_07_28);
                json!({"supportedVersions": [Revision::V2026_07_28.name()], "capabilities": hello["capabilities"]})
            }
            method if REMOVED.contains(&method) => {
                return Err((-32601, format!("there is no method {method}")));
            }
            method => self.plain(method, params)?,
        };
        let server = &self.by_method["initialize"]["serverInfo"];
        result["_meta"] = json!({"io.modelcontextprotocol/serverInfo": server});
        result["resultType"] = json!("complete");
        if !["tools/call", "prompts/get", "completion/complete"].contains(&method) {
            (result["ttlMs"], result["cacheScope"]) = (json!(0), json!("private"));
        }
        Ok(result)
    }

    fn plain(&self, method: &str, params: &Value) -> Result<Value, (i64, String)> {
        let offer = &self.by_method;
        let (list, named) = (&offer["lists"][method], &offer["named"][method]);
        let refused = |code: i64, why: &str| Err((code, why.to_owned()));
        if let (Some(name), Some([first, rest @ ..])) =
            (list[0].as_str(), list[1].as_array().map(Vec::as_slice))
        {
            match params.get("cursor").map(|cursor| cursor.as_str()) {
                None if self.pages => Ok(json!({name: [first], "nextCursor": CURSOR})),
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
                false if method.starts_with("resources/") && !self.modern => {
                    refused(-32002, "there is no such resource")
                }
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
    use super::{Offer, Part};
    use serde_json::json;
    use transcript::revision::Revision;

    #[test]
    fn lists_have_two_pages_and_names_are_known() {
        let offer = Offer::new(Part::Session);
        let first = offer.answer("tools/list", &json!({})).unwrap();
        let rest = offer.answer("tools/list", &json!({"cursor": first["nextCursor"]})).unwrap();
        assert_eq!(
            (first["tools"][0]["name"].as_str(), rest["tools"][0]["name"].as_str()),
            (Some("add"), Some("echo"))
        );
        assert!(rest.get("nextCursor").is_none());
        assert_eq!(offer.answer("tools/list", &json!({"cursor": "x"})).unwrap_err().0, -32602);
        assert_eq!(offer.answer("resources/read", &json!({"uri": "x"})).unwrap_err().0, -32002);
        assert_eq!(offer.answer("nonsense", &json!({})).unwrap_err().0, -32601);
        assert!(offer.hello(Revision::V2024_11_05)["capabilities"].get("completions").is_none());
        let modern = Offer::new(Part::Modern);
        assert_eq!(modern.answer("ping", &json!({})).unwrap_err().0, -32601);
        assert_eq!(modern.answer("resources/read", &json!({"uri": "x"})).unwrap_err().0, -32602);
        assert_eq!(
            modern.answer("server/discover", &json!({})).unwrap()["supportedVersions"],
            json!(["2026-07-28"])
        );
    }
}
