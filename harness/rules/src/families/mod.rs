//! What `check` judges a recording by: each rule as data, with the code that watches for it, a family a file.
//!
//! A new rule touches only the file of its family; a new family, also the list at the foot of [`FAMILIES`].

mod auth;
mod auth_discovery;
mod auth_flow;
mod batch;
mod caching;
mod cancellation;
mod capabilities;
mod completion;
mod correlation;
mod elicitation;
mod elicitation_urls;
mod encoding;
mod envelope;
mod errors;
mod http;
mod http_get;
mod http_resume;
mod http_sessions;
mod http_streams;
mod jsonl;
mod jsonrpc;
mod legacy_sse;
mod lifecycle;
mod list_changes;
mod logging;
mod meta_keys;
mod methods;
mod modern;
mod modern_answers;
mod modern_http;
mod modern_stdio;
mod modern_versions;
mod mrtr;
mod offers;
mod pagination;
mod param_headers;
mod pings;
mod progress;
mod prompts;
mod recording;
mod redaction;
mod replay;
mod replay_frame;
mod request_ids;
mod resources;
mod retries;
mod roots;
mod sampling;
mod stdio;
mod subscription_ends;
mod subscriptions;
mod task_answers;
mod task_capabilities;
mod tasks;
mod tool_headers;
mod tool_output;
mod tools;
mod typed;
mod versions;

pub(crate) use recording::{MESSAGES, READABLE};

use crate::engine::{Family, FamilySet};
use crate::rule::Rule;

/// Every family, in the order in which they are listed.
pub static FAMILIES: &[Family] = &[
    recording::FAMILY,
    replay::FAMILY,
    envelope::FAMILY,
    jsonl::FAMILY,
    redaction::FAMILY,
    encoding::FAMILY,
    stdio::FAMILY,
    jsonrpc::FAMILY,
    request_ids::FAMILY,
    correlation::FAMILY,
    methods::FAMILY,
    errors::FAMILY,
    batch::FAMILY,
    lifecycle::FAMILY,
    versions::FAMILY,
    pings::FAMILY,
    capabilities::FAMILY,
    task_capabilities::FAMILY,
    task_answers::FAMILY,
    typed::FAMILY,
    progress::FAMILY,
    cancellation::FAMILY,
    logging::FAMILY,
    pagination::FAMILY,
    list_changes::FAMILY,
    completion::FAMILY,
    tools::FAMILY,
    tool_output::FAMILY,
    resources::FAMILY,
    prompts::FAMILY,
    offers::FAMILY,
    sampling::FAMILY,
    elicitation::FAMILY,
    elicitation_urls::FAMILY,
    roots::FAMILY,
    tasks::FAMILY,
    http::FAMILY,
    http_get::FAMILY,
    http_streams::FAMILY,
    http_resume::FAMILY,
    http_sessions::FAMILY,
    legacy_sse::FAMILY,
    auth::FAMILY,
    auth_flow::FAMILY,
    auth_discovery::FAMILY,
    modern::FAMILY,
    meta_keys::FAMILY,
    modern_versions::FAMILY,
    modern_http::FAMILY,
    modern_answers::FAMILY,
    modern_stdio::FAMILY,
    tool_headers::FAMILY,
    mrtr::FAMILY,
    retries::FAMILY,
    subscriptions::FAMILY,
    subscription_ends::FAMILY,
    caching::FAMILY,
];

const _: () = assert!(FAMILIES.len() <= FamilySet::MOST, "a family has no bit");

/// The first few of [`FAMILIES`], down to `stdio`, judge what a recording is made of, and by each other's rules: what
/// is not a message may be found by one and named by another.
pub(crate) const TOGETHER: usize = 7;

/// Every rule, in the order of the families.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    FAMILIES.iter().flat_map(|family| family.rules.iter().copied())
}

/// The rule with this id, spelled exactly.
pub fn find(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.id == id)
}

/// The family that a rule is of.
pub fn family_of(rule: &Rule) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.rules.iter().any(|one| one.id == rule.id))
}

#[cfg(test)]
mod session_tests;
#[cfg(test)]
mod tests;
