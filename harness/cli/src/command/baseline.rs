//! The baseline of a command that tests: read, and matched against everything that could be tested.

use super::context::{CommandContext, Failure};
use super::small_file;
use std::io;
use std::path::Path;
use transcript::dialect::Dialect;
use verdict::baseline::Baseline;
use verdict::config_error::ConfigError;
use verdict::plain::counted;

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
