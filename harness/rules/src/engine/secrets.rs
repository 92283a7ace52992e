//! Secrets that stand in plain text, by forms that nothing else has.

/// How the secrets of services begin, how long what follows is at least, and what they are. Published by the services.
const PREFIXES: &[(&str, usize, &str)] = &[
    ("sk-", 20, "a key of OpenAI or Anthropic"),
    ("sk_live_", 16, "a key of Stripe"),
    ("rk_live_", 16, "a key of Stripe"),
    ("ghp_", 20, "a token of GitHub"),
    ("gho_", 20, "a token of GitHub"),
    ("ghs_", 20, "a token of GitHub"),
    ("github_pat_", 20, "a token of GitHub"),
    ("glpat-", 16, "a token of GitLab"),
    ("AKIA", 16, "a key of AWS"),
    ("AIza", 30, "a key of Google"),
    ("ya29.", 20, "a token of Google"),
    ("xoxb-", 10, "a token of Slack"),
    ("xoxp-", 10, "a token of Slack"),
    ("npm_", 30, "a token of npm"),
    ("pypi-", 30, "a token of PyPI"),
    ("hf_", 30, "a token of Hugging Face"),
];

/// The least characters of credentials behind `Bearer`, and of different ones in any secret: others are placeholders.
const LEAST: usize = 16;
const VARIED: usize = 7;

/// What secret a text gives away, if any.
pub(crate) fn secret(text: &str) -> Option<&'static str> {
    if text.contains("PRIVATE KEY-----") {
        return Some("a private key");
    }
    let mut bearer = false;
    text.split(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).find_map(|word| {
        let word = word.trim_matches('.');
        let behind = std::mem::replace(&mut bearer, word.eq_ignore_ascii_case("bearer"));
        let starts = |(prefix, least, _): &&(&str, usize, &'static str)| {
            // Names in snake case begin like some of them.
            let snake =
                |rest: &str| prefix.ends_with('_') && *prefix != "github_pat_" && rest.contains(['_', '-']);
            word.strip_prefix(*prefix)
                .is_some_and(|rest| rest.len() >= *least && is_random(rest) && !snake(rest))
        };
        match word.split('.').collect::<Vec<_>>().as_slice() {
            [head, body, _] if head.starts_with("eyJ") && body.starts_with("eyJ") => Some("a JSON Web Token"),
            _ if behind && word.len() >= LEAST && is_random(word) => Some("a bearer token"),
            _ => PREFIXES.iter().find(starts).map(|(.., what)| *what),
        }
    })
}

/// Whether a text looks drawn at random: with a digit, and varied.
fn is_random(text: &str) -> bool {
    let mut bytes: Vec<u8> = text.bytes().collect();
    bytes.sort_unstable();
    bytes.dedup();
    text.bytes().any(|byte| byte.is_ascii_digit()) && bytes.len() >= VARIED
}

#[cfg(test)]
mod tests {
    use super::secret;

    #[test]
    fn secrets_are_known_by_their_form_and_placeholders_are_none() {
        for text in [
            "key=sk-proj-4f9aB2c7D1e8G3h5J6k0",
            "(AKIA2E7QX4ZB9TRW5LKM)",
            "Authorization: Bearer 9f3aC71be02d48d6",
            "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.x",
            "-----BEGIN RSA PRIVATE KEY-----\nMII",
            "https://x/?t=ghp_0a1B2c3D4e5F6g7H8i9J0",
        ] {
            assert!(secret(text).is_some(), "{text}");
        }
        for text in [
            "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
            "ghp_********************",
            "Bearer token missing",
            "Bearer realm=\"x\"",
            "the bearer of 4 tokens",
            "risk-assessment-of-2026-in-thirty-pages",
            "eyJ.eyJ",
            "npm_package_dependencies_of_version_2_of_it",
        ] {
            assert_eq!(secret(text), None, "{text}");
        }
    }
}
