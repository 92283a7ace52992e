//! What is asked of the headers of a request; the rules on parameters are also those of `param_headers`.

use crate::rule::Rule;
use crate::rule_text::{read_rules, rules_in};

const TEXT: &str = include_str!("../modern_http.toml");
pub(crate) static RULES: [Rule; rules_in(TEXT)] = read_rules(TEXT);
