//! mcp-concord over bytes: what its commands answer, for programs in any language.
//!
//! Each function takes recordings as bytes and gives what the command of its name prints: the same JSON, byte for byte. It opens
//! no file, starts no process and asks no clock; on a target without threads it starts none, and elsewhere only the readers of
//! large recordings do.
//!
//! ```
//! use app::{CheckOptions, Recording, check};
//!
//! let recording = Recording::new("a.jsonl", br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#);
//! let checked = check(&recording, &CheckOptions::default())?;
//! assert!(!checked.is_well());
//! assert!(checked.json().contains("jsonrpc.id.null"));
//! # Ok::<(), app::Error>(())
//! ```

mod check;
mod convert;
mod diff;
mod error;
mod read;
mod recording;
mod show;
mod summary;

pub use check::{CheckOptions, Checked, VERSION, check};
pub use convert::{ConvertOptions, Converted, convert};
pub use diff::{Compared, DiffOptions, diff};
pub use error::{Error, Place};
pub use read::{IdentifyOptions, ReadOptions, identify, read};
pub use recording::{Answer, Recording};
pub use rules::record::{CheckedFile, RuleResult};
pub use show::{ShowOptions, show};
pub use summary::{SummaryOptions, summary};
