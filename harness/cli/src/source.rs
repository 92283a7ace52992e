//! Opening what the command line names.
//!
//! Knows: that `-` is the standard input, and how to say plainly why something cannot be opened.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// An input that is open, with the name to call it by.
pub(crate) struct Source {
    /// The path as given, or `<stdin>`.
    pub name: String,
    /// Its bytes.
    pub reader: Box<dyn Read + Send>,
}

/// Opens `path`, or the standard input where it is `-`.
///
/// # Errors
/// A sentence that names the path and what is in the way.
pub(crate) fn open(path: &Path) -> Result<Source, String> {
    if path.as_os_str() == "-" {
        return Ok(Source { name: "<stdin>".to_owned(), reader: Box::new(io::stdin()) });
    }
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("there is no file {name}"),
        io::ErrorKind::PermissionDenied => format!("{name} may not be read by this user"),
        _ => format!("{name} cannot be opened: {error}"),
    })?;
    match file.metadata() {
        Ok(metadata) if metadata.is_dir() => Err(format!(
            "{name} is a directory; a transcript is one file (cases are run with `mcp-concord run --cases`)"
        )),
        Ok(_) => Ok(Source { name, reader: Box::new(file) }),
        Err(error) => Err(format!("{name} cannot be looked at: {error}")),
    }
}
