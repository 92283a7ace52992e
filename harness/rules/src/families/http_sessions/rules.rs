//! What is asked of session ids, and of the version in the headers.

use crate::rule::Rule;
use crate::rule_text::{named, read_rules, rules_in};

const TEXT: &str = include_str!("../http_sessions.toml");
pub(super) static RULES: [Rule; rules_in(TEXT)] = read_rules(TEXT);

pub(super) const CHARSET: &Rule = named(&RULES, "http.session.charset");
pub(super) const ENTROPY: &Rule = named(&RULES, "http.session.entropy");
pub(super) const ECHO: &Rule = named(&RULES, "http.session.echo");
pub(super) const MISSING_400: &Rule = named(&RULES, "http.session.missing-400");
pub(super) const AFTER_END: &Rule = named(&RULES, "http.session.404-after-end");
pub(super) const REINIT: &Rule = named(&RULES, "http.session.reinit");
pub(super) const PRESENT: &Rule = named(&RULES, "http.version.present");
pub(super) const NEGOTIATED: &Rule = named(&RULES, "http.version.negotiated");
pub(super) const BAD_400: &Rule = named(&RULES, "http.version.bad-400");
