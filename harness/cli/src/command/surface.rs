//! `surface`: what does a server offer, and does a change of that break its clients?

use super::context::{CommandContext, Failure};
use super::input::{Source, named_format, opened};
use super::small_file;
use super::values::{new_file, words};
use crate::exit;
use crate::recordings::{Found, Names, Recordings};
use crate::terminal::out_for;
use app::{Cause, Error};
use formats::Format;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::mem::take;
use std::path::{Path, PathBuf};
use surface::output::{Sides, json, markdown, offer, sarif, text};
use surface::{Class, Collector, Surface, compare, is_lock, read_lock, write_lock};
use verdict::plain::plain;
use wire::files::{self, Access};

/// Shows what a server offers, or compares two offers: what breaks clients, what to look at, what is new.
///
/// An offer is the tools with their schemas, the resources, templates, prompts, capabilities and instructions that a recording
/// shows; of a folder of recordings the last listing of each kind counts. A lock file holds an offer, and can be used in
/// place of a recording. JSON Schemas are compared by what they accept; where that cannot be decided, a person is asked to look.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/surface.txt"))]
pub(crate) struct Args {
    /// What the server offered: a recording, a folder of them, or a lock file; `-` is the standard input.
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// What it offers now. Without it, the first is shown.
    #[arg(value_name = "NEW")]
    new: Option<PathBuf>,
    /// Write the offer of the newer side as a lock file. An existing lock file is replaced, any other file is refused.
    #[arg(long, value_name = "FILE", value_parser = new_file())]
    write: Option<PathBuf>,
    /// Exit with 1 for a change of this class or a worse one.
    #[arg(long, value_parser = words(&CLASSES), default_value = "breaking", value_name = "CLASS")]
    fail_on: String,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
    /// The output format.
    #[arg(long, value_parser = words(&OUTPUTS), default_value = "text", value_name = "HOW")]
    output: String,
}

const CLASSES: [(&str, &str); 3] = [
    ("breaking", "A client that worked may not work any more"),
    ("review", "The same, or something that a person should look at"),
    ("additive", "Any change"),
];

const OUTPUTS: [(&str, &str); 4] = [
    ("text", "For people"),
    ("json", "For programs; a single offer is written as a lock file"),
    ("markdown", "For a comment on a pull request"),
    ("sarif", "For code scanners"),
];

/// Runs the command. Memory: the listings of both sides, and what the readers hold.
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    if args.old.as_os_str() == "-" && args.new.as_ref().is_some_and(|new| new.as_os_str() == "-") {
        return Err("only one of the two can be the standard input".into());
    }
    let old = take_surface(&args.old, args.format, context)?;
    let new = args.new.as_deref().map(|new| take_surface(new, args.format, context)).transpose()?;
    if let Some(path) = &args.write {
        write(path, new.as_ref().unwrap_or(&old))?;
    }
    let mut out = out_for(args.output == "text");
    let Some(new) = new else {
        match args.output.as_str() {
            "text" => out.write_all(shown(&old).as_bytes())?,
            "json" => out.write_all(write_lock(&old).as_bytes())?,
            _ => {
                return Err("this output needs two sides to compare: name the newer one, too".into());
            }
        }
        out.flush()?;
        return Ok(exit::WELL);
    };
    let names = [&args.old, args.new.as_ref().unwrap_or(&args.old)].map(|path| path.display().to_string());
    let sides = Sides { old: (&names[0], &old), new: (&names[1], &new) };
    let found = compare(&old, &new);
    let written = match args.output.as_str() {
        "json" => json(sides, &found),
        "markdown" => markdown(sides, &found),
        "text" => text(sides, &found, context.terminal.colour_out),
        _ => sarif(sides, &found, env!("CARGO_PKG_VERSION")),
    };
    out.write_all(written.as_bytes())?;
    out.flush()?;
    found.notes.iter().for_each(|note| context.terminal.note(&plain(note)));
    let worst = match args.fail_on.as_str() {
        "breaking" => Class::Breaking,
        "review" => Class::Review,
        _ => Class::Additive,
    };
    let failed = found.changes.iter().any(|change| change.class <= worst);
    Ok(if failed { exit::FAILED } else { exit::WELL })
}

/// The offer of a recording, a folder, or a lock file.
fn take_surface(
    path: &Path,
    asked: Option<&'static Format>,
    context: CommandContext,
) -> Result<Surface, Failure> {
    let shown = if path.as_os_str() == "-" { "<stdin>".to_owned() } else { path.display().to_string() };
    let mut collector = Collector::default();
    let mut passed_over = Names::default();
    for found in Recordings::find([Ok(path.to_owned())]) {
        match found {
            Found::Recording(recording) => {
                let Source { name, reader } = opened(&recording.path, context.terminal)?;
                let mut reader = BufReader::with_capacity(LOOKED_AT, reader);
                let found = recording.folder.is_some();
                if !found && is_lock(&start(&mut reader, &name)?) {
                    return lock(path, reader);
                }
                let recording = app::Recording::once(&name, reader);
                let read = app::Recording { found, ..recording }
                    .reading(asked, |format, input| collector.read(format, input));
                match read {
                    Err(Error { cause: Cause::NoRecording, .. }) => passed_over.push(|| name),
                    read => drop(read.map_err(|error| Failure::from(error).of_input())?),
                }
            }
            Found::Unsearched(_, why) => return Err(why.into()),
            Found::Searched(folder, notes) => {
                let other = take(&mut passed_over).left_out(&folder, "not a recording");
                notes.iter().chain(&other).for_each(|note| context.terminal.note(note));
            }
        }
    }
    if let [one, other, ..] = collector.servers() {
        let (one, other) = (plain(one), plain(other));
        let why = format!(
            "{shown} shows several servers, `{one}` and `{other}`; name recordings of one, or of a HAR \
                           keep the exchanges of one by their URLs"
        );
        return Err(why.into());
    }
    let surface = collector.finish();
    if surface.is_empty() {
        return Err(Failure::Unusable(format!(
            "{shown} shows no listing, such as an answer to tools/list, so it does not show what a server offers"
        )));
    }
    surface.notes.iter().for_each(|note| context.terminal.note(&format!("{shown}: {note}")));
    Ok(surface)
}

/// How much of a file is looked at to see whether it is a lock file.
const LOOKED_AT: usize = 64 << 10;

/// The beginning of a file.
fn start(reader: &mut impl BufRead, name: &str) -> Result<String, Failure> {
    let start = reader.fill_buf().map_err(|error| unreadable(name, &error))?;
    Ok(String::from_utf8_lossy(start).trim_start_matches('\u{feff}').to_owned())
}

fn lock(path: &Path, reader: impl Read) -> Result<Surface, Failure> {
    let name = path.display();
    let text = small_file::rest(reader).map_err(|error| unreadable(&name.to_string(), &error))?;
    read_lock(text.trim_start_matches('\u{feff}'))
        .map_err(|why| format!("{name} cannot be used as a lock file: {why}").into())
}

fn unreadable(name: &str, error: &io::Error) -> Failure {
    Failure::Unusable(format!("{name} cannot be read: {error}"))
}

/// Writes a lock file at once; replaces nothing else than a lock file.
fn write(path: &Path, surface: &Surface) -> Result<(), Failure> {
    let mut there = Vec::new();
    // To open a pipe would wait for its other end.
    if path.is_file()
        && File::open(path).and_then(|file| file.take(LOOKED_AT as u64).read_to_end(&mut there)).is_ok()
        && !there.is_empty()
        && !is_lock(&String::from_utf8_lossy(&there))
    {
        return Err(format!("{} exists and is not a lock file; nothing was written", path.display()).into());
    }
    let bytes = write_lock(surface);
    let written = files::replace(path, Access::Usual, |out| out.write_all(bytes.as_bytes()));
    written.map_err(|error| Failure::unwritable(path, &error))
}

/// An offer for a person.
fn shown(surface: &Surface) -> String {
    let mut out = format!("{}\n", offer(surface));
    for (kind, listing) in surface::LISTINGS.iter().zip(&surface.listings) {
        for name in listing.iter().flat_map(|listing| listing.items.keys()) {
            out.push_str(&format!("  {}  {}\n", kind.item, plain(name)));
        }
    }
    out
}
