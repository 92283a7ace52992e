//! Records as pages that open from disk: no network, readable without their script. The caller says which pages a site has and
//! where they are.

mod cases;
pub mod changes;
pub mod clauses;
mod failure;
pub mod findings;
mod formats;
mod heat;
pub(crate) mod labels;
pub mod overview;
mod renderer;
pub mod rules;
pub mod run;
mod stats;
mod tally;
#[cfg(test)]
mod tests;
mod text_diff;
mod trend;

pub use overview::Overview;
pub use renderer::{HtmlRenderer, Link, PageLocation};
pub use run::Run;
