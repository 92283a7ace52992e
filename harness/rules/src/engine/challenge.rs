//! The challenges of `WWW-Authenticate` (RFC 9110, section 11.6.1): their schemes, and their parameters with values.

use transcript::session::Headers;

/// One challenge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Challenge {
    scheme: String,
    params: Vec<(String, String)>,
}

impl Challenge {
    /// Those of an answer, in their order.
    pub(crate) fn all(headers: &Headers<'_>) -> Vec<Self> {
        let ours = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("www-authenticate"));
        ours.flat_map(|(_, value)| challenges(value)).collect()
    }

    /// Whether it is one for bearer tokens.
    pub(crate) fn is_bearer(&self) -> bool {
        self.scheme.eq_ignore_ascii_case("bearer")
    }

    /// The value of a parameter, without its quotes.
    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        let mut params = self.params.iter();
        params.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

fn challenges(value: &str) -> Vec<Challenge> {
    let mut report: Vec<Challenge> = Vec::new();
    for part in parts(value) {
        let part = part.trim();
        let word = part.find(|c: char| !is_token(c)).unwrap_or(part.len());
        let (word, rest) = part.split_at(word);
        // `realm = "x"` goes on with the challenge before it; `Bearer realm="x"` begins another.
        if let Some(value) = rest.trim_start().strip_prefix('=') {
            if let Some(challenge) = report.last_mut() {
                challenge.params.push((word.to_owned(), unquoted(value)));
            }
        } else if !word.is_empty() {
            let mut challenge = Challenge { scheme: word.to_owned(), params: Vec::new() };
            if let Some((name, value)) = rest.trim().split_once('=') {
                challenge.params.push((name.trim().to_owned(), unquoted(value)));
            }
            report.push(challenge);
        }
    }
    report
}

/// The parts between commas, those in quotes aside.
fn parts(value: &str) -> Vec<&str> {
    let (mut parts, mut start, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, char) in value.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => {
                parts.push(&value[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&value[start..]);
    parts
}

fn unquoted(value: &str) -> String {
    let value = value.trim();
    let Some(inner) = value.strip_prefix('"') else { return value.to_owned() };
    let mut out = String::new();
    let mut chars = inner.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => break,
            '\\' => out.extend(chars.next()),
            other => out.push(other),
        }
    }
    out
}

/// Whether a character may stand in a token (RFC 9110, section 5.6.2).
pub(crate) fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

#[cfg(test)]
mod tests {
    use super::challenges;

    #[test]
    fn challenges_are_parted_from_their_parameters() {
        let report = challenges(
            "Basic realm=\"a, Bearer scope=\\\"x\\\"\", Bearer error=\"insufficient_scope\" , SCOPE = \"a b\",resource_metadata=https://x/",
        );
        let schemes: Vec<_> = report.iter().map(|challenge| challenge.scheme.as_str()).collect();
        assert_eq!(schemes, ["Basic", "Bearer"]);
        assert_eq!(report[0].param("realm"), Some("a, Bearer scope=\"x\""));
        assert_eq!(report[0].param("scope"), None);
        assert!(report[1].is_bearer());
        assert_eq!(report[1].param("error"), Some("insufficient_scope"));
        assert_eq!(report[1].param("scope"), Some("a b"));
        assert_eq!(report[1].param("Resource_Metadata"), Some("https://x/"));
        assert_eq!(challenges("bearer").len(), 1);
        assert_eq!(challenges(", ,").len(), 0);
        assert_eq!(challenges("Bearer realm=\"x\\").len(), 1);
    }
}
