//! What words look like: the ids of rules and clauses, and dates.

use transcript::nearest::hint;

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

/// What a file says in the keys that it has. Where it does not fit, `say` learns why, with the byte.
pub(super) fn known_keys<T: serde::de::DeserializeOwned>(
    text: &str,
    say: &mut dyn FnMut(Option<usize>, String),
) -> Option<T> {
    // Each unknown key is reported and taken out, so that the next fault is seen as well.
    let mut known = text.to_owned();
    loop {
        let error = match toml::from_str(&known) {
            Ok(spelled) => return Some(spelled),
            Err(error) => error,
        };
        let at = error.span().map(|span| span.start);
        let key = at.and_then(|at| key_of_line(text, at)).unwrap_or_default();
        let mut names = error.message().split('`').skip(1).step_by(2);
        match (error.message().starts_with("unknown field"), names.next(), at) {
            (true, Some(name), Some(at)) if known.get(at..).is_some_and(|rest| rest.starts_with(name)) => {
                let hint = match hint(name, names.clone()) {
                    hint if hint.is_empty() => {
                        format!("; the keys are {}", names.collect::<Vec<_>>().join(", "))
                    }
                    hint => hint,
                };
                say(Some(at), format!("there is no key `{name}`{hint}"));
                let end = known[at..].find('\n').map_or(known.len(), |end| at + end);
                known.replace_range(at..end, &" ".repeat(end - at));
            }
            _ => {
                say(at, format!("{}{}", error.message().replace('\n', " "), example(key)));
                return None;
            }
        }
    }
}

/// The first word of the line around byte `at`: the key, where the line has one.
fn key_of_line(text: &str, at: usize) -> Option<&str> {
    let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    text[start..].split(|c: char| c == '=' || c.is_whitespace()).next()
}

/// What to write for each required key.
const REQUIRED: &[(&str, &str)] = &[
    ("title", r#"title = "A null id is not a correlation id""#),
    ("clauses", r#"clauses = ["ID-NULL"]"#),
    ("expect", r#"expect = "meaning", "rejection" or "either""#),
    ("reason", r#"reason = "one or two sentences for the person whose importer fails here""#),
    ("origin", r#"origin = "written by hand from the clauses""#),
];

/// What to write for a key, where it is a required one.
pub(super) fn example(key: &str) -> String {
    let write = REQUIRED.iter().find(|(name, _)| *name == key);
    write.map(|(_, write)| format!("; write {write}")).unwrap_or_default()
}
