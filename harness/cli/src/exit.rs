//! What the program's exit codes mean. They are part of the product's outside.
//!
//! A command that a signal cut short ends with 128 and the signal's number, whatever it had judged until then: 129 for HUP,
//! 130 for INT, 143 for TERM ([`wire::interrupt::code`]).

/// All is well.
pub(crate) const WELL: u8 = 0;
/// What was judged failed: a transcript was rejected, two sessions differ, a case failed.
pub(crate) const FAILED: u8 = 1;
/// The call or its input could not be used: a wrong flag, a missing file, a broken suite.
pub(crate) const UNUSABLE: u8 = 2;
/// The implementation under test could not be run.
pub(crate) const NOT_RUN: u8 = 3;
/// The reader of the output closed it before all was written, so there is no verdict: what a shell makes of SIGPIPE.
pub(crate) const CLOSED: u8 = 141;
/// How a one-shot command says that it rejects a transcript: `EX_DATAERR` of sysexits. Not 1, which an uncaught error gives
/// in most languages.
pub(crate) const REJECTED: u8 = 65;
