//! The authorization-discovery summary (clauses K2A-SUMMARY, K2A-BOUND, K2A-SPELLING).

use crate::session::Headers;

/// What a 401's `WWW-Authenticate` challenges made visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AuthorizationSummary {
    /// Some challenge had the auth-param `resource_metadata`.
    pub resource_metadata_visible: bool,
    /// Some challenge had the auth-param `scope`.
    pub scope_challenge_visible: bool,
}

impl AuthorizationSummary {
    /// The summary of one answer; none where the status is not 401, no challenge stands in the headers, or none
    /// has either parameter.
    #[must_use]
    pub fn new(status: Option<u16>, headers: &Headers<'_>) -> Option<Self> {
        if status != Some(401) {
            return None;
        }
        let mut summary = Self::default();
        for (name, value) in headers {
            if name.eq_ignore_ascii_case("www-authenticate") {
                for parameter in auth_params(value) {
                    summary.resource_metadata_visible |= parameter.eq_ignore_ascii_case("resource_metadata");
                    summary.scope_challenge_visible |= parameter.eq_ignore_ascii_case("scope");
                }
            }
        }
        (summary != Self::default()).then_some(summary)
    }

    /// What two answers of one session made visible together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            resource_metadata_visible: self.resource_metadata_visible || other.resource_metadata_visible,
            scope_challenge_visible: self.scope_challenge_visible || other.scope_challenge_visible,
        }
    }

    /// The summary as the meaning shows it.
    #[must_use]
    pub fn to_json(self) -> String {
        format!(
            "{{\"visible\": true, \"source_kind\": \"www_authenticate\", \"resource_metadata_visible\": {}, \
             \"authorization_servers_visible\": false, \"scope_challenge_visible\": {}}}",
            self.resource_metadata_visible, self.scope_challenge_visible
        )
    }
}

/// The names of a field value's auth-params: tokens followed by `=` and a value, outside quoted strings and behind a
/// scheme, with which every challenge begins. A token68 credential (`Basic abc=`) has nothing after its padding and
/// is none.
fn auth_params(value: &str) -> Vec<&str> {
    let bytes = value.as_bytes();
    let mut names = Vec::new();
    let (mut at, mut in_challenge) = (0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = quoted_end(bytes, at),
            byte if is_token(byte) => {
                let start = at;
                while at < bytes.len() && is_token(bytes[at]) {
                    at += 1;
                }
                let mut next = at;
                while let Some(b' ' | b'\t') = bytes.get(next) {
                    next += 1;
                }
                if bytes.get(next) == Some(&b'=') {
                    next += 1;
                    while let Some(b' ' | b'\t') = bytes.get(next) {
                        next += 1;
                    }
                    if bytes.get(next).is_some_and(|&byte| byte == b'"' || is_token(byte)) {
                        if in_challenge {
                            names.push(&value[start..at]);
                        }
                        at = match bytes[next] {
                            b'"' => quoted_end(bytes, next),
                            // An unquoted value ends with its token, so that `a=scope, b=1` names no `scope`.
                            _ => next + bytes[next..].iter().take_while(|&&byte| is_token(byte)).count(),
                        };
                    } else {
                        at = next;
                    }
                } else {
                    in_challenge = true;
                }
            }
            _ => at += 1,
        }
    }
    names
}

fn quoted_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::{AuthorizationSummary, auth_params};

    fn seen(status: u16, name: &str, value: &str) -> Option<(bool, bool)> {
        AuthorizationSummary::new(Some(status), &vec![(name.into(), value.into())])
            .map(|summary| (summary.resource_metadata_visible, summary.scope_challenge_visible))
    }

    #[test]
    fn parameters_are_found_outside_quotes_alone() {
        let both = r#"Bearer realm="x", resource_metadata="https://x/.well-known", scope="a b""#;
        assert_eq!(seen(401, "WWW-Authenticate", both), Some((true, true)));
        assert_eq!(seen(401, "www-authenticate", r#"bearer SCOPE = "a""#), Some((false, true)));
        assert_eq!(seen(401, "Www-Authenticate", "Bearer resource_metadata=token"), Some((true, false)));
        assert_eq!(seen(403, "WWW-Authenticate", both), None);
        assert_eq!(seen(401, "Authorization", both), None);
        assert_eq!(
            seen(
                401,
                "WWW-Authenticate",
                r#"Bearer error_description="no scope=\"a\", resource_metadata=b""#
            ),
            None
        );
        assert_eq!(seen(401, "WWW-Authenticate", "Bearer error=scope"), None);
        assert_eq!(seen(401, "WWW-Authenticate", "Bearer"), None);
        assert_eq!(
            seen(401, "WWW-Authenticate", r#"Basic realm="a", Bearer scope="x""#),
            Some((false, true))
        );
        assert_eq!(seen(401, "WWW-Authenticate", "Basic c2NvcGU="), None);
        assert_eq!(seen(401, "WWW-Authenticate", "Bearer scopes=\"x\", xscope=1"), None);
        assert_eq!(seen(401, "WWW-Authenticate", r#"scope="a", Bearer realm="x""#), None);
        assert_eq!(
            seen(401, "WWW-Authenticate", r#"scope=a, Bearer resource_metadata="u""#),
            Some((true, false))
        );
    }

    #[test]
    fn unfinished_quotes_end_with_the_value() {
        assert_eq!(auth_params("Bearer realm=\"abc, scope=x"), ["realm"]);
        assert_eq!(auth_params("Bearer realm=\"abc\\"), ["realm"]);
        assert_eq!(auth_params("="), Vec::<&str>::new());
    }
}
