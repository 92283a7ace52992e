//! A scripted peer: plays one side of a recorded session, and tells where the other side departs from it.

pub mod journal;
