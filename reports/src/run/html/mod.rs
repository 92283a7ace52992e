//! Records as pages that open from disk: no network, readable without their script. The caller says which pages a site has and
//! where they are.

mod cases;
pub mod changes;
mod failure;
pub mod findings;
pub(crate) mod labels;
pub mod overview;
pub mod reference;
mod renderer;
mod stats;
mod tally;
#[cfg(test)]
mod tests;
mod text_diff;

pub use overview::{Overview, Run};
pub use renderer::{HtmlRenderer, Link, PageLocation};
