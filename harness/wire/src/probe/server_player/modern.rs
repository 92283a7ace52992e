//! The server in the revision without handshake: each request says for itself what its client speaks and can do, and what the
//! server asks of a client is in its answers.

use super::{Player, Step};
use crate::probe::server_script::ServerAct;
use serde_json::{Value, json};
use transcript::revision::Revision;

/// Where a request says its version.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

impl Player {
    /// Whether a request is of a revision that is spoken. Each one says that for itself where there is no handshake.
    pub(super) fn is_spoken(&mut self, method: &str, params: &Value) -> bool {
        if !self.offer.modern {
            return true;
        }
        let spoken = Revision::V2026_07_28;
        // What lacks its version is judged, and answered.
        let is_other = params["_meta"][VERSION].as_str().is_some_and(|version| version != spoken.name());
        if method == "initialize" || is_other {
            return false;
        }
        if !self.ready {
            self.ready = true;
            self.meet(params["_meta"]["io.modelcontextprotocol/clientCapabilities"].clone(), spoken);
        }
        if let (Some(step), true) = (self.input, params["inputResponses"].is_object()) {
            self.input = None;
            self.note(step, '+', "the client tried again with an answer");
        }
        true
    }

    pub(super) fn unsupported(&mut self, id: &Value, params: &Value) {
        let requested = params["_meta"].get(VERSION).unwrap_or(&params["protocolVersion"]);
        let data = json!({"supported": [Revision::V2026_07_28.name()], "requested": requested});
        let why = "only 2026-07-28 is spoken here";
        self.reply(id, "error", json!({"code": -32022, "message": why, "data": data}));
        for step in std::mem::take(&mut self.left) {
            self.note(
                step,
                '-',
                &format!("the client asked for {}", requested.as_str().unwrap_or("no version")),
            );
            self.left.push(step);
        }
    }

    /// Opens a subscription, and says once what the client wants to hear of.
    pub(super) fn subscribed(&mut self, id: &Value, params: &Value) {
        let own = json!({"io.modelcontextprotocol/subscriptionId": id});
        let wants = params["notifications"]["toolsListChanged"] == json!(true);
        let filter = if wants { json!({"toolsListChanged": true}) } else { json!({}) };
        self.tell(
            "notifications/subscriptions/acknowledged",
            &json!({"_meta": own, "notifications": filter}),
        );
        if wants {
            self.tell("notifications/tools/list_changed", &json!({"_meta": own}));
        }
    }

    /// Answers the request at hand with one that its client has to answer before it tries again.
    pub(super) fn ask_for_input(&mut self, step: &'static Step<ServerAct>, method: &str, params: &str) {
        let Some(held) = self.held.pop_front() else { return };
        let params: Value = serde_json::from_str(params).unwrap_or_default();
        let result = json!({
            "resultType": "input_required",
            "inputRequests": {"concord": {"method": method, "params": params}},
            "requestState": format!("concord:{}", step.name),
        });
        self.reply(&held.id, "result", result);
        self.note(step, '-', "the client did not try again with an answer");
        self.input = Some(step);
    }
}
