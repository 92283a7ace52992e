//! Records as pages that open from disk: no network, readable without their script. The caller says which pages a site has and
//! where they are.

pub mod changes;
pub mod clauses;
mod counts;
mod failure;
pub mod findings;
mod formats;
pub mod kills;
mod labels;
mod matrix;
pub mod overview;
mod renderer;
pub mod rules;
pub mod run;
#[cfg(test)]
mod tests;
mod text_diff;
mod trend;

pub use overview::Overview;
pub use renderer::{HtmlRenderer, Link, PageLocation};
pub use run::Run;
