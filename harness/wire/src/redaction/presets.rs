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

/// Every preset. A word behind `Bearer` is credentials if it has a digit; `Bearer realm="…"` has none. How the keys of each maker
/// begin, and how long they are, is what the makers and the public rules of scanners such as gitleaks say. Where a pattern has a
/// group `secret`, only that goes.
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
        "pwd",
        "*_pwd",
        "passphrase",
        "otp",
        "*_otp",
        "totp",
        "*api*key*",
        "*private*key*",
        "*access*key*",
        "*account*key",
        "*credential*",
        "code_verifier",
        "client_assertion",
        "assertion",
        "sig",
        "signature",
        "x-*-signature",
        "*session*id",
        "phpsessid",
    ],
    texts: &[
        ("private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)"),
        ("private key of age", r"\bAGE-SECRET-KEY-1[A-Z0-9]{58}"),
        ("JWT", r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*"),
        (
            "bearer or basic credentials",
            r"(?i-u)\b(?:bearer|basic)\s+(?:[\w.~+/-]{7,}[0-9]|[\w.~+/-]{0,7}[0-9][\w.~+/-]{5,})[\w.~+/-]*=*",
        ),
        (
            "user and password of an option",
            r#"(?-u)(?:^|\s)(?:-u|--user|--proxy-user)[ =]["']?(?P<secret>[^\s:"']+:[^\s"']+)"#,
        ),
        (
            "password in an element",
            r"(?i-u)<(?:\w+:)?(?:password|passwd|pwd|passphrase|secret|token|api[_-]?key)(?:\s[^<>]*)?>(?P<secret>[^<>]+)<",
        ),
        ("key of OpenAI, Anthropic or Stripe", r"\b(?:sk|rk|pk)[-_][A-Za-z0-9_-]{16,}"),
        ("secret of a webhook", r"\bwhsec_[A-Za-z0-9+/=_-]{16,}"),
        (
            "address of a webhook",
            r"(?-u)\b(?:hooks\.slack\.com/(?:services|workflows|triggers)|hooks\.zapier\.com/hooks/catch|discord(?:app)?\.com/api/webhooks|[a-z0-9-]+\.webhook\.office\.com/webhookb2)/(?P<secret>[\w@./+-]{20,})",
        ),
        (
            "address that is a key",
            r"(?-u)\b(?:mcp\.zapier\.com/api/mcp/[as]|mcp\.composio\.dev/[a-z_]+|mcp\.pipedream\.net)/(?P<secret>[\w-]{16,})",
        ),
        ("token of GitHub", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
        ("token of GitLab", r"\bgl(?:pat|dt|rt|ptt|soat|agent|cbt|imt|ffct|oas)-[A-Za-z0-9_-]{16,}"),
        (
            "token of Atlassian",
            r"\b(?:ATATT3[A-Za-z0-9_=-]{60,}|ATCTT3[A-Za-z0-9_=-]{60,}|ATBB[A-Za-z0-9]{28,})",
        ),
        ("key of AWS", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
        ("signature of AWS", r"(?-u)\bAWS4-HMAC-SHA256[^\r\n]*?Signature=(?P<secret>[0-9a-f]{64})"),
        ("key of Google", r"\b(?:AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})"),
        (
            "key of Azure",
            r"(?-u)\b(?:(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/=]{20,})|[\w~.]{3}[0-9]Q~[\w~.-]{31,34})",
        ),
        ("key of Alibaba", r"\bLTAI[A-Za-z0-9]{12,}"),
        ("token of Slack", r"\b(?:xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})"),
        (
            "token of npm, PyPI or Hugging Face",
            r"\b(?:npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|(?:hf|api_org)_[A-Za-z0-9]{30,})",
        ),
        (
            "token of crates.io, RubyGems or Clojars",
            r"\b(?:cio[A-Za-z0-9]{32}\b|rubygems_[0-9a-f]{48}|CLOJARS_[a-z0-9]{60})",
        ),
        ("token of Docker", r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
        ("key of SendGrid", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
        ("key of Twilio", r"\b(?:SK|AC)[0-9a-f]{32}\b"),
        ("key of Mailgun or Mailchimp", r"\b(?:key-[0-9a-f]{32}|[0-9a-f]{32}-us[0-9]{1,2})\b"),
        ("key of Resend", r"\bre_[A-Za-z0-9]{6,}_[A-Za-z0-9]{20,}"),
        ("token of DigitalOcean", r"\bdo[opr]_v1_[0-9a-f]{64}"),
        ("token of Shopify", r"\bshp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}"),
        ("key of xAI, Groq, Perplexity or Cerebras", r"\b(?:xai-|gsk_|pplx-|csk-)[A-Za-z0-9]{32,}"),
        (
            "key of Replicate, NVIDIA or Fireworks",
            r"\b(?:r8_[A-Za-z0-9]{37,}|nvapi-[A-Za-z0-9_-]{40,}|fw_[A-Za-z0-9]{22,})",
        ),
        (
            "key of Tavily, Firecrawl, E2B, Apify or LangSmith",
            r"\b(?:tvly-[A-Za-z0-9-]{20,}|fc-[0-9a-f]{32}|e2b_[0-9a-f]{40}|apify_api_[A-Za-z0-9]{30,}|lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10})",
        ),
        (
            "key of Linear, Notion, Figma or Airtable",
            r"\b(?:lin_(?:api|oauth)_[A-Za-z0-9]{32,}|ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}\b|fig[dou]r?_[A-Za-z0-9_-]{30,}|pat[A-Za-z0-9]{14}\.[0-9a-f]{64})",
        ),
        (
            "token of Vault or Terraform",
            r"\b(?:hv[sbr]\.[A-Za-z0-9_-]{24,}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,})",
        ),
        ("token of Telegram", r"(?-u)\b(?:bot)?[0-9]{8,10}:AA[A-Za-z0-9_-]{32,33}"),
        (
            "token of Doppler, Pulumi or Heroku",
            r"\b(?:dp\.(?:pt|st|sa|ct|scim|audit)\.[A-Za-z0-9]{40,}|pul-[0-9a-f]{40}|HRKU-[A-Za-z0-9_-]{30,})",
        ),
        (
            "token of Fly.io, Netlify or Supabase",
            r"\b(?:fo1_[A-Za-z0-9_-]{43}|fm[12][a-z]?_[A-Za-z0-9+/=_-]{40,}|nfp_[A-Za-z0-9]{36}|sbp_[0-9a-f]{40})",
        ),
        (
            "token of Cloudflare, PlanetScale or Databricks",
            r"\b(?:v1\.0-[0-9a-f]{24}-[0-9a-f]{146}|pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,}|dapi[0-9a-f]{32})",
        ),
        (
            "key of Grafana, New Relic, Sentry or Dynatrace",
            r"\b(?:glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/=]{32,}|NRAK-[A-Z0-9]{27}|sntr(?:ys|yu)_[A-Za-z0-9+/=_-]{40,}|dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64})",
        ),
        (
            "key of Square, Shippo or EasyPost",
            r"\b(?:sq0(?:atp|csp)-[A-Za-z0-9_-]{22,}|EAAA[A-Za-z0-9_-]{56,}|shippo_(?:live|test)_[0-9a-f]{40}|EZ[AT]K[A-Za-z0-9]{54})",
        ),
        (
            "key of HubSpot, Postman or Contentful",
            r"\b(?:pat-(?:na|eu)[0-9]-[0-9a-f-]{36}|PMAK-[0-9a-f]{24}-[0-9a-f]{34}|CFPAT-[A-Za-z0-9_-]{43})",
        ),
    ],
}];

/// The preset of this name.
pub fn preset(name: &str) -> Result<&'static Preset, String> {
    let known = || PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ");
    let found = PRESETS.iter().find(|preset| preset.name == name);
    found.ok_or_else(|| format!("there is no preset `{name}`; there are {}", known()))
}
