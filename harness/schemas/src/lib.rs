//! Values held to the JSON Schemas that a recording itself holds: a tool's `inputSchema`, a form's `requestedSchema`.
//!
//! ```
//! use schemas::{Fit, Schemas};
//! use transcript::json::Json;
//!
//! let schema = Json::parse(r#"{"type":"object","required":["path"]}"#)?;
//! let mut schemas = Schemas::default();
//! assert_eq!(schemas.fit(schema, Json::parse(r#"{"path":"/"}"#)?), Fit::Fits);
//! assert!(matches!(schemas.fit(schema, Json::parse("{}")?), Fit::Unfit(..)));
//! # Ok::<(), transcript::json::SyntaxError>(())
//! ```

mod cost;
mod schemas;

pub use schemas::{Fit, Schemas, Validity, part};
