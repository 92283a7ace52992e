//! What the program's exit codes mean. They are part of the product's outside.

/// All is well.
pub const WELL: u8 = 0;
/// The judged thing fell short: a transcript was rejected, two sessions differ, a case failed.
pub const FELL_SHORT: u8 = 1;
/// The call or its input could not be used: a wrong flag, a missing file, a broken suite.
pub const UNUSABLE: u8 = 2;
/// The implementation under test could not be run.
pub const NOT_RUN: u8 = 3;
