//! A scripted peer: plays one side of a recorded session, and tells where the other side departs from it.

mod departure;
pub mod journal;
mod playing;
mod script;

pub use departure::{Departure, Kind};
pub use playing::{Heard, Order, Playing, Said};
pub use script::{Script, Step, on_one_line};
