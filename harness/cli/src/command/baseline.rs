//! The baseline of a command that tests: read, and matched against everything that could be tested.

use super::context::{CommandContext, Failure};
use super::small_file;
use std::path::Path;
use std::{fs, io};
use transcript::dialect::Dialect;
use verdict::baseline::Baseline;
use verdict::config_error::ConfigError;
use verdict::plain::counted;
use wire::files::{Access, replace};

/// Reads the baseline in `path`, and holds it against `trials`, which are all that could be judged. With `growing`, a
/// file that is not there is an empty one, and reasons may be missing. It must be of the dialect that is judged by.
pub(super) fn read<'t>(
    path: &Path,
    growing: bool,
    dialect: &Dialect,
    trials: impl Iterator<Item = (&'t str, &'t str)> + Clone,
    context: CommandContext,
) -> Result<Baseline, Failure> {
    let text = match small_file::written(path) {
        Ok(text) => text,
        Err(error) if growing && error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("{} cannot be read: {error}", path.display()).into()),
    };
    let baseline = Baseline::read(&text, growing).and_then(|mut baseline| {
        let mut slips = baseline.hold_against(trials);
        slips.extend(baseline.is_of(dialect).err());
        if slips.is_empty() { Ok(baseline) } else { Err(slips) }
    });
    baseline.map_err(|slips| {
        say(&slips, path, context);
        Failure::Unusable(format!("the baseline cannot be used: {}", counted(slips.len(), "problem")))
    })
}

/// Says each slip with its place.
pub(super) fn say(slips: &[ConfigError], path: &Path, context: CommandContext) {
    context.terminal.errors(slips.iter().map(|ConfigError { line, message }| {
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line}: {message}", path.display())
    }));
}

/// Adds entries, where they tell of anything that the file does not. The rest of it stays as it is, byte for byte. `entries` is told
/// whether they are the first of the file.
pub(super) fn add(
    path: &Path,
    entries: impl FnOnce(bool) -> String,
    context: CommandContext,
) -> Result<(), Failure> {
    let first = fs::metadata(path).map_or(true, |file| file.len() == 0);
    let entries = entries(first);
    let added = entries.matches("[[known]]").count();
    if added == 0 {
        context.terminal.note(&format!("{} lists every failure already; nothing was added", path.display()));
        return Ok(());
    }
    let known = if first { Ok(Vec::new()) } else { fs::read(path) };
    let written = known.and_then(|known| {
        replace(path, Access::Usual, |out| {
            out.write_all(&known).and_then(|()| out.write_all(entries.as_bytes()))
        })
    });
    written.map_err(|error| Failure::unwritable(path, &error))?;
    let noun = if added == 1 { "entry" } else { "entries" };
    context.terminal.note(&format!("added {added} {noun} to {}; give each a reason", path.display()));
    Ok(())
}
