//! The metadata of a server over HTTP that asks for a login.

use super::http::{MOST, exchanges, unless_interrupted};
use super::reading;
use crate::StartError;
use crate::http::{JSON, Target, collect};
use hyper::StatusCode;
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;
use transcript::revision::Revision;

/// Asks for the metadata of a server that wants a token: where its challenge says, as long as that is the same server, or else where
/// clients look for it by themselves. What is found, in words.
pub(super) fn look_for_metadata(
    target: &Target,
    server: &str,
    named: Option<&str>,
    patience: Duration,
) -> Result<Option<String>, StartError> {
    let (runtime, exchanges) = exchanges(target, Revision::V2025_11_25, patience)?;
    let here = named.and_then(|at| at.strip_prefix(server)).filter(|path| path.starts_with('/'));
    let own = Some(exchanges.path.trim_end_matches('/')).filter(|path| !path.is_empty());
    let known =
        own.into_iter().chain([""]).map(|path| format!("/.well-known/oauth-protected-resource{path}"));
    let paths: Vec<_> = here.map_or_else(|| known.collect(), |path| vec![path.to_owned()]);
    let found = runtime.block_on(unless_interrupted(async {
        for path in paths {
            let answer = exchanges.open("GET", &path, &[("accept", JSON)], "").await.ok()?;
            let status = answer.status();
            let body = timeout(patience, collect(answer.into_body(), MOST)).await;
            if status.is_success() || here.is_some() {
                let body = body.into_iter().flatten().collect::<Vec<_>>().concat();
                return Some(described(&format!("{server}{path}"), status, &body));
            }
        }
        None
    }));
    let elsewhere = |at| format!("at {at}, was not read: that is another server");
    Ok(named.filter(|_| here.is_none()).map(elsewhere).or(found.flatten()))
}

/// What metadata says, in words.
fn described(at: &str, status: StatusCode, body: &[u8]) -> String {
    let said = reading::read(body).unwrap_or_default();
    let servers = said["authorization_servers"].as_array().into_iter().flatten();
    let servers = servers.filter_map(Value::as_str).take(3).collect::<Vec<_>>().join(", ");
    match servers.as_str() {
        _ if !status.is_success() => format!("at {at}, cannot be read: HTTP {status}"),
        "" => format!("at {at}, names no authorization server"),
        servers => format!("at {at}, names the authorization server {servers}"),
    }
}
