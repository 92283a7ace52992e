//! A session as a picture: participants, and what happens between them from top to bottom.
//!
//! [`Diagram`] is the picture as plain data; [`crate::diagram_builder`] makes one from recordings. The renderers are [`svg()`],
//! [`html()`] and [`text()`]. Every string may be a stranger's, so none of them trusts any.

mod canvas;
mod html;
mod kill_matrix;
pub(crate) mod line_text;
mod meaning;
mod model;
mod parts;
mod side_by_side;
mod svg;
mod text;

pub use canvas::STYLE;
pub use html::html;
pub use kill_matrix::{KillMatrix, KillMatrixRow, kill_matrix};
pub use model::{Annotation, Arrow, Diagram, Flag, Fold, MessageKind, Note, Participant, Row, Severity};
pub use side_by_side::side_by_side;
pub use svg::{SvgOptions, svg};
pub use text::{TextOptions, text};

#[cfg(test)]
mod sample;

#[cfg(test)]
mod tests;
