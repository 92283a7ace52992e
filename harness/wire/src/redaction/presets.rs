//! Names and patterns that many sessions need.

/// Names and patterns under one name.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// How it is asked for.
    pub name: &'static str,
    /// Names, as `--redact` takes them.
    pub names: &'static [&'static str],
    /// Patterns, each with what it is for.
    pub texts: &'static [(&'static str, &'static str)],
}

/// Every preset. A word behind `Bearer` is credentials if it has a digit; `Bearer realm="…"` has none.
pub const PRESETS: &[Preset] = &[Preset {
    name: "common",
    names: &[
        "authorization",
        "proxy-authorization",
        "cookie",
        "set-cookie",
        "*token",
        "*secret*",
        "*password*",
        "passwd",
        "passphrase",
        "*api*key",
        "*private*key*",
        "*access*key*",
        "*credential*",
        "code_verifier",
        "client_assertion",
        "assertion",
    ],
    texts: &[
        ("private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)"),
        ("JWT", r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*"),
        (
            "bearer or basic credentials",
            r"(?i-u)\b(?:bearer|basic)\s+(?:[\w.~+/-]{7,}[0-9]|[\w.~+/-]{0,7}[0-9][\w.~+/-]{5,})[\w.~+/-]*=*",
        ),
        ("key of OpenAI, Anthropic or Stripe", r"\b(?:sk|rk|pk)[-_][A-Za-z0-9_-]{16,}"),
        ("token of GitHub", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
        ("token of GitLab", r"\bgl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{16,}"),
        ("key of AWS", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
        ("key of Google", r"\b(?:AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})"),
        ("token of Slack", r"\bxox[a-z]-[A-Za-z0-9-]{10,}"),
        (
            "token of npm, PyPI or Hugging Face",
            r"\b(?:npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{30,})",
        ),
    ],
}];

/// The preset of this name.
pub fn preset(name: &str) -> Result<&'static Preset, String> {
    let known = || PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ");
    let found = PRESETS.iter().find(|preset| preset.name == name);
    found.ok_or_else(|| format!("there is no preset `{name}`; there are {}", known()))
}
