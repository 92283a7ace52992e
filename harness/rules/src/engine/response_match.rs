//! What a response answers.

/// With the request itself, or a reference to it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ResponseMatch<R> {
    /// The message is not a response.
    NotAResponse,
    /// The oldest open request of the other side with this id, type and all.
    Matched(R),
    /// An open request whose id is the same but for its type, such as `1` and `"1"`.
    Mistyped(R),
    /// A request that was answered before.
    AlreadyAnswered,
    /// No request; or it cannot be known, because the response's id is null or missing.
    Unmatched,
    /// The recording does not say who sent the response, and both sides have open requests with this id.
    Ambiguous,
    /// No request that is remembered, and a limit was reached so that not all are.
    Unknown,
}

impl<R> ResponseMatch<Box<R>> {
    /// The request itself.
    pub(super) fn into_request(self) -> Option<Box<R>> {
        match self {
            Self::Matched(request) | Self::Mistyped(request) => Some(request),
            _ => None,
        }
    }

    pub(super) fn as_deref(&self) -> ResponseMatch<&R> {
        match self {
            Self::Matched(request) => ResponseMatch::Matched(request),
            Self::Mistyped(request) => ResponseMatch::Mistyped(request),
            Self::NotAResponse => ResponseMatch::NotAResponse,
            Self::AlreadyAnswered => ResponseMatch::AlreadyAnswered,
            Self::Unmatched => ResponseMatch::Unmatched,
            Self::Ambiguous => ResponseMatch::Ambiguous,
            Self::Unknown => ResponseMatch::Unknown,
        }
    }
}

impl<R> ResponseMatch<R> {
    /// The request that is answered, if it is known.
    pub(super) fn request(&self) -> Option<&R> {
        match self {
            Self::Matched(request) | Self::Mistyped(request) => Some(request),
            _ => None,
        }
    }
}
