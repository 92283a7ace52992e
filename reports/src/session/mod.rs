//! A recorded session for people and for programs: at a glance, as a picture, as a page to look into, beside another one, and
//! as spans. What came of judging it is given by the caller.

pub mod diagram;
pub mod diagram_builder;
pub mod diff;
pub mod drawing;
pub mod otlp;
pub mod overview;
pub mod stats;
pub mod target;
pub mod viewer;
