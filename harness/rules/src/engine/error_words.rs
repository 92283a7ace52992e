//! What the words of an error say, in lower case, where no code says it.

/// Whether the words of an error say that the server does not know a session any more. There is no code for it.
/// What else may be in the sentence is not about the session: `invalid params: session name is too long`.
pub(super) fn says_gone(error: &str) -> bool {
    const BEFORE: [&str; 8] = [
        "no valid ",
        "invalid ",
        "unknown ",
        "expired ",
        "terminated ",
        "no such ",
        "no active ",
        "missing ",
    ];
    const BEHIND: [&str; 9] = [
        "not found",
        "invalid",
        "unknown",
        "expired",
        "terminated",
        "not exist",
        "n't exist",
        "no longer",
        "closed",
    ];
    if error.contains("server not initialized") {
        return true;
    }
    let phrases = error.split(['.', ':', ';', '(', '"', '\n', '<']);
    phrases.filter_map(|phrase| phrase.split_once("session")).any(|(before, behind)| {
        // An article or the name of the header may stand between.
        let near = before.floor_char_boundary(before.len().saturating_sub(30));
        BEFORE.iter().any(|words| before[near..].contains(words))
            || BEHIND.iter().any(|words| behind.contains(words))
    })
}

/// Whether they begin by saying that the request came without a valid token. What a server was told by another stands further
/// on: `failed to start: 401 unauthorized`.
pub(super) fn says_unauthorized(error: &str) -> bool {
    const BEGIN: [&str; 11] = [
        "unauthorized",
        "unauthenticated",
        "not authenticated",
        "authentication required",
        "authorization required",
        "missing authorization",
        "missing or invalid authorization",
        "missing bearer token",
        "invalid access token",
        "invalid or expired access token",
        "invalid or expired token",
    ];
    BEGIN.iter().any(|words| error.starts_with(words))
}
