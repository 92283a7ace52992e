//! Judging a recording: what a session shows, entry by entry, and what the rules make of it.
//!
//! Knows: how a session's facts are gathered (revision, capabilities, who asked what), and how findings are kept.
//! Refuses to know: any rule (they are in [`crate::families`]), capture formats, and how a finding is shown.

mod base64;
mod challenge;
mod content;
mod facts;
mod found;
pub mod frozen;
mod judging;
mod ledger;
mod methods;
mod moment;
mod panel;
mod pieces;
mod place;
mod recent;
pub mod record;
mod redelivery;
mod schema_cost;
mod schemas;
mod tallies;
mod tool_list;
mod trip;
mod url;
mod waking;
mod wishes;

pub use crate::revision::{Revision, Span};
pub use facts::Subject;
pub use found::{Count, Finding, Outcome, Verdict};
pub use judging::{Judged, Judging, Options};
pub use methods::usual_sender;
pub use panel::{Panel, Sharing};
pub(crate) use pieces::{Piece, Pieces};
pub use place::Place;
pub(crate) use place::{Mark, quoted, shown};

pub(crate) use base64::base64;
pub(crate) use challenge::Challenge;
pub(crate) use content::{
    Base64, Contents, Fault, LONGEST_NAME, Uri, block, contents, embedded, read_base64, str_of, string_of,
    uri,
};
pub(crate) use facts::{META_CAPABILITIES, META_VERSION, text_of, why_not_whole};
pub(crate) use found::{Found, Wrong};
pub(crate) use ledger::{Asked, Use};
pub(crate) use methods::{Direction, known};
pub(crate) use moment::{Bound, Moment, Said, Sort};
pub(crate) use recent::Recent;
pub(crate) use redelivery::Redelivery;
pub(crate) use schemas::{Fit, Schemas, Validity, part};
pub(crate) use tool_list::{Definition, ToolList};
pub(crate) use trip::{Call, LAST_EVENT, SESSION, Transport, Trip, Trips, VERSION, id_text, plain};
pub(crate) use url::{Origin, address, parameter, query, resolve};
pub(crate) use wishes::{Granted, Wishes, wishes};

/// The limits that a document names, for the test that holds it to them.
#[cfg(test)]
pub(crate) mod limits {
    pub(crate) use super::facts::MOST_TOOLS;
    pub(crate) use super::found::MOST_KEPT;
    pub(crate) use super::ledger::{MOST_HELD, MOST_IDS, MOST_OPEN};
}
