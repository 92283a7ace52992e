//! What is asked of streams that break off, and of the side that takes them up again.

use crate::rule::Rule;
use crate::rule_text::{named, read_rules, rules_in};

const TEXT: &str = include_str!("../http_resume.toml");
pub(super) static RULES: [Rule; rules_in(TEXT)] = read_rules(TEXT);

pub(super) const RESPONDS: &Rule = named(&RULES, "http.sse.responds");
pub(super) const CLOSED_EARLY: &Rule = named(&RULES, "http.sse.close-before-response");
pub(super) const RETRY: &Rule = named(&RULES, "http.sse.retry-before-close");
pub(super) const RETRY_RESPECTED: &Rule = named(&RULES, "http.sse.retry-respected");
pub(super) const RECONNECT: &Rule = named(&RULES, "http.sse.reconnect");
pub(super) const BROADCAST: &Rule = named(&RULES, "http.stream.no-broadcast");
pub(super) const UNIQUE: &Rule = named(&RULES, "sse.id.unique");
pub(super) const BY_GET: &Rule = named(&RULES, "http.resume.by-get");
pub(super) const KNOWN_ID: &Rule = named(&RULES, "http.resume.known-id");
pub(super) const SAME_STREAM: &Rule = named(&RULES, "http.resume.same-stream");
pub(super) const LAST_ID: &Rule = named(&RULES, "http.resume.last-id");
pub(super) const EACH_ID: &Rule = named(&RULES, "http.sse.each-id");
