//! A session as a picture: participants, and what happens between them from top to bottom.
//!
//! [`Diagram`] is the picture as plain data; [`crate::session::diagram_builder`] makes one from recordings. The renderers are [`svg()`]
//! and [`text()`]; a page is made by [`crate::session::viewer`]. Every string may be a stranger's, so none of them trusts any.

mod canvas;
pub(crate) mod line_text;
mod meaning;
pub(crate) mod model;
mod parts;
mod side_by_side;
pub(crate) mod source;
mod svg;
mod text;

pub use canvas::STYLE;
pub use model::Diagram;
pub(crate) use side_by_side::side_by_side;
pub use svg::{SvgOptions, svg};
pub use text::{TextOptions, text};

#[cfg(test)]
pub(crate) mod sample;

#[cfg(test)]
mod tests;
