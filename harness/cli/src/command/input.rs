//! The inputs that a command line names: opened, and their capture format found.

use super::context::Failure;
use super::kept::Keeper;
use super::small_file;
use crate::terminal::Terminal;
use app::{Decoded, Recording};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use formats::{Format, Meaning, ReadOptions, Session, meaning};
use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::path::Path;

/// An input that is open, with the name to call it by.
pub(crate) struct Source {
    /// The path as given, or `<stdin>`.
    pub name: String,
    pub reader: Box<dyn Read + Send>,
}

/// Opens `path`, or the standard input where it is `-`.
pub(crate) fn open(path: &Path, terminal: Terminal) -> Result<Recording<'static>, Failure> {
    let Source { name, reader } = opened(path, terminal)?;
    Ok(Recording::once(&name, reader))
}

/// The same, to be read twice: what is not a plain file is kept, when it is known to be a recording.
pub(super) fn open_kept(
    path: &Path,
    asked: Option<&'static Format>,
    terminal: Terminal,
) -> Result<Recording<'static>, Failure> {
    let Source { name, reader } = opened(path, terminal)?;
    let lost = |error: io::Error| Failure::Unusable(format!("{name} cannot be read: {error}"));
    if path.as_os_str() != "-" && path.is_file() && !is_coded(path) {
        let source = Box::new(File::open(path).map_err(lost)?);
        return Ok(Recording { name, source, found: false, exact: false });
    }
    let mut keeper = Keeper::new(reader);
    Recording::once(&name, &mut keeper).reading(asked, |_, _| Ok(()))?;
    let mut source = Box::new(keeper.finish().map_err(lost)?);
    source.rewind().map_err(lost)?;
    Ok(Recording { name, source, found: false, exact: false })
}

/// What the options of the library call a format.
pub(super) fn name_of(format: Option<&'static Format>) -> Option<String> {
    format.map(|format| format.name.to_owned())
}

/// Opens `path` for reading, or the standard input where it is `-`. It is decoded, and said to be UTF-16 where it is.
pub(crate) fn opened(path: &Path, terminal: Terminal) -> Result<Source, String> {
    let Source { name, reader } = opened_as_it_is(path)?;
    let reader = Box::new(Decoded::new(&name, reader, move |note| terminal.note(note)));
    Ok(Source { name, reader })
}

/// Whether a file is decoded as it is read.
pub(super) fn is_coded(path: &Path) -> bool {
    let mut start = [0; 2];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && app::is_coded(&start)
}

/// The same, byte for byte.
pub(super) fn opened_as_it_is(path: &Path) -> Result<Source, String> {
    if path.as_os_str() == "-" {
        return Ok(Source { name: "<stdin>".to_owned(), reader: Box::new(io::stdin()) });
    }
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if path.is_symlink() => {
            format!("{name} is a symbolic link to a file that does not exist")
        }
        io::ErrorKind::NotFound => format!("there is no file {name}"),
        io::ErrorKind::PermissionDenied => format!("{name} cannot be read: this user has no permission"),
        _ => format!("{name} cannot be opened: {error}"),
    })?;
    match file.metadata() {
        Ok(metadata) if metadata.is_dir() => Err(format!(
            "{name} is a folder; name one recording in it (`mcp-concord run --cases` runs a folder of cases)"
        )),
        Ok(_) => Ok(Source { name, reader: Box::new(file) }),
        Err(error) => Err(format!("{name} cannot be inspected: {error}")),
    }
}

/// What an option takes that names a capture format: the help lists them, and a typo is answered with what was meant.
pub(crate) fn named_format() -> impl TypedValueParser<Value = &'static Format> {
    PossibleValuesParser::new(format_values(false)).try_map(|name| formats::named(&name))
}

/// The same, of formats that are written.
pub(crate) fn written_format() -> impl TypedValueParser<Value = &'static Format> {
    PossibleValuesParser::new(format_values(true)).try_map(|name| formats::to_write(&name))
}

/// The names of formats; those that can only be refused are hidden.
pub(super) fn format_values(to_write: bool) -> impl Iterator<Item = PossibleValue> {
    let value = move |format: &&'static Format| {
        let refused = to_write && !format.is_written();
        PossibleValue::new(format.name).aliases(format.aliases).hide(refused)
    };
    let retired = formats::retired().map(|name| PossibleValue::new(name).hide(true));
    formats::FORMATS.iter().map(value).chain(retired)
}

/// That no format is named twice.
pub(crate) fn distinct(formats: &[&'static Format]) -> Result<(), Failure> {
    let again = |(at, format): &(usize, &&Format)| formats[..*at].iter().any(|it| it.name == format.name);
    match formats.iter().enumerate().find(again) {
        Some((_, format)) => Err(format!("--format {} is given twice", format.name).into()),
        None => Ok(()),
    }
}

/// A transcript as a whole: its bytes, its session, and what the built-in reader reads in it.
pub(super) struct Transcript {
    /// The name to call it by.
    pub(super) name: String,
    pub(super) format: &'static Format,
    pub(super) bytes: Vec<u8>,
    pub(super) session: Session,
    pub(super) meaning: Meaning,
}

impl Transcript {
    /// Reads an input of the command line.
    pub(super) fn open(
        path: &Path,
        asked: Option<&'static Format>,
        terminal: Terminal,
    ) -> Result<Self, Failure> {
        let Source { name, reader } = opened(path, terminal)?;
        match small_file::bytes(reader) {
            Ok(bytes) => Self::new(bytes, asked, name),
            Err(error) => Err(format!("{name} cannot be read: {error}").into()),
        }
    }

    pub(super) fn new(bytes: Vec<u8>, asked: Option<&'static Format>, name: String) -> Result<Self, Failure> {
        let (format, session) = Recording::new(&name, &bytes)
            .reading(asked, |format, input| Session::read(format, input, ReadOptions::default()))?;
        let meaning = meaning(format, &mut &bytes[..], ReadOptions::default())
            .map_err(|error| Failure::of_reading(&name, error))?;
        Ok(Self { name, format, bytes, session, meaning })
    }
}
