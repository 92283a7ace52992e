//! What the commands of mcp-concord answer: functions of recordings and options.
//!
//! The program, Python and JavaScript carry bytes to these functions and their answers to files, terminals and callers. A command
//! opens no file, starts no process and asks no clock; it starts threads only where an option asks for them, or where a large
//! recording is read on a target that has them.
//!
//! ```
//! use app::{CheckOptions, ReadOptions, Recording, answer, check};
//!
//! let line = br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#;
//! let meaning = answer(&ReadOptions::default(), [Recording::new("a.jsonl", line)])?;
//! assert!(meaning.text().contains("\"method\": \"ping\""));
//! let checked = check(&mut Recording::new("a.jsonl", line), &CheckOptions::default())?;
//! assert!(!checked.is_well());
//! assert!(checked.json().contains("jsonrpc.id.null"));
//! # Ok::<(), app::Error>(())
//! ```

mod answer;
mod bundle;
mod check;
mod convert;
mod decoded;
mod diff;
mod error;
mod identify;
mod official;
mod read;
mod recording;
mod show;
mod stats;
mod summary;
mod unpacker;

pub use answer::{Answer, Command, Outcome, Output, Remark, answer};
pub use bundle::bundle;
pub use check::{CheckOptions, Checked, Judge, VERSION, check};
pub use convert::{ConvertOptions, Converted, bodies_left_out};
pub use decoded::{Decoded, is_coded};
pub use diff::{DiffOptions, Text};
pub use error::{Cause, Error};
pub use identify::IdentifyOptions;
pub use official::Official;
pub use read::ReadOptions;
pub use recording::{Recording, Source};
pub use reports::overview::Order;
pub use rules::record::{CheckedFile, RuleResult};
pub use show::ShowOptions;
pub use stats::Stats;
pub use summary::{Summary, SummaryOptions};
