//! What words look like: the ids of rules and clauses, and dates.

/// `jsonrpc.id.null`: words of lower case, joined by dots.
pub(super) fn looks_like_a_rule(word: &str) -> bool {
    let part = |part: &str| {
        part.bytes().any(|c| c.is_ascii_alphanumeric())
            && part.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-')
    };
    word.contains('.') && word.split('.').all(part)
}

pub(super) fn looks_like_a_clause(word: &str) -> bool {
    word.contains('-') && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-')
}

pub(super) fn is_date(text: &str) -> bool {
    let digits = |range: std::ops::Range<usize>| {
        text.get(range).is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    text.len() == 10
        && digits(0..4)
        && digits(5..7)
        && digits(8..10)
        && &text[4..5] == "-"
        && &text[7..8] == "-"
}
