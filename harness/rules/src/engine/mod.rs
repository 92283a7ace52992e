//! Judging a recording: what a session shows, entry by entry, and what the rules make of it.
//!
//! How a session's facts are gathered (revision, capabilities, who asked what), and how findings are kept.

mod challenge;
mod content;
mod context;
mod dispatch;
mod error_words;
mod exchange_tracker;
mod facts;
mod family;
mod finding;
mod held_answers;
mod http_exchange;
mod judge;
mod location;
mod losses;
mod message;
mod methods;
mod moment;
mod negotiated;
mod parallel_judge;
mod pending_request;
mod pending_requests;
mod recent_texts;
mod recording_info;
mod redelivery;
mod report;
mod response_match;
mod secrets;
mod server_requests;
mod split_messages;
mod tool_definitions;
mod tool_list;
mod trace_event;
mod typed_id;
mod url;
mod violation;

pub(crate) use crate::revision::{Revision, Span};

pub(crate) use dispatch::FamilySet;
pub use family::Family;
pub(crate) use family::{OnMessage, OnStep, RuleVisitor, Trigger, per_session};
pub use finding::{Finding, FindingCount, Listener, RuleOutcome, RuleVerdict};
pub use judge::CheckResult;
#[cfg(test)]
pub(crate) use judge::Judge;
pub(crate) use judge::JudgeOptions;
pub use location::FindingLocation;
pub(crate) use location::{SourceLocation, quoted, shown};
pub use methods::usual_sender;
pub(crate) use parallel_judge::ParallelJudge;
pub use parallel_judge::Parallelism;
pub(crate) use split_messages::{SplitLine, SplitMessages, is_log_line};

pub(crate) use challenge::{Challenge, is_token};
pub(crate) use content::{
    Base64, ContentsKind, LONGEST_NAME, Uri, base64, contents, embedded, read_base64, str_of, string_of,
    text_of, uri,
};
pub(crate) use context::{NOT_WHOLE, ON_OPEN_STREAM, RuleContext, TAKEN_OUT};
pub(crate) use facts::why_not_whole;
pub(crate) use http_exchange::{
    Call, HttpExchange, LAST_EVENT, SESSION, Transport, VERSION, holds_several, plain, shows_all,
};
pub(crate) use message::{
    MARK, META_CAPABILITIES, META_CLIENT, META_VERSION, MessageKind, SeenMessage, behind_mark,
};
pub(crate) use methods::{Direction, Method};
pub(crate) use moment::{CROSSING, Early, EarlyAnswers, Moment, NO_ORDER};
pub(crate) use pending_request::{PendingRequest, requestor, requestors};
pub(crate) use pending_requests::IdUse;
pub(crate) use recent_texts::RecentTexts;
pub(crate) use recording_info::{RecordingInfo, RecordingKind};
pub(crate) use redelivery::Redelivery;
pub(crate) use report::{NO_REVISION, lacks};
pub(crate) use response_match::ResponseMatch;
pub(crate) use schemas::{Fit, Schemas, Validity, part};
pub(crate) use secrets::secret;
pub(crate) use server_requests::{ClientAnswer, ServerRequests, server_requests};
pub(crate) use tool_list::{Definition, ToolList};
pub(crate) use trace_event::bytes_of;
pub(crate) use typed_id::{TypedId, UsedIds};
pub(crate) use url::{Origin, address, bare_url, host, is_private, parameter, percent_decoded, query};
pub(crate) use violation::{HeldFinding, Violation};

/// The limits that a document names, for the test that holds it to them.
#[cfg(test)]
pub(crate) mod limits {
    pub(crate) use super::pending_requests::{MOST_HELD, MOST_IDS, MOST_OPEN};
    pub(crate) use super::report::MOST_KEPT;
    pub(crate) use super::tool_definitions::MOST_TOOLS;
    pub(crate) use transcript::session_names::MOST_SESSIONS;
}
