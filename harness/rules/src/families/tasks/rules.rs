//! What is asked of tasks.

use crate::rule::Rule;
use crate::rule_text::{named, read_rules, rules_in};

const TEXT: &str = include_str!("../tasks.toml");
pub(super) static RULES: [Rule; rules_in(TEXT)] = read_rules(TEXT);

pub(super) const START: &Rule = named(&RULES, "tasks.status.start");
pub(super) const TERMINAL: &Rule = named(&RULES, "tasks.status.terminal");
pub(super) const UNIQUE: &Rule = named(&RULES, "tasks.id.unique");
pub(super) const STRING: &Rule = named(&RULES, "tasks.id.string");
pub(super) const RELATED: &Rule = named(&RULES, "tasks.related-meta");
pub(super) const BLOCKS: &Rule = named(&RULES, "tasks.result.blocks");
pub(super) const SAME: &Rule = named(&RULES, "tasks.result.same");
pub(super) const TIMES: &Rule = named(&RULES, "tasks.times");
pub(super) const CANCEL: &Rule = named(&RULES, "tasks.cancel-terminal");
pub(super) const CANCELLED: &Rule = named(&RULES, "tasks.cancel-status");
pub(super) const FAILED: &Rule = named(&RULES, "tasks.status-message");
pub(super) const CREATED: &Rule = named(&RULES, "tasks.created");
pub(super) const LISTED: &Rule = named(&RULES, "tasks.list.complete");
pub(super) const REPEATED: &Rule = named(&RULES, "tasks.related-meta-once");
