//! Every recording that a command line names: opened, its format found, and handed on, one after the other.

use super::context::{CommandContext, Failure, no_recording};
use super::input::{open, recorded};
use crate::recordings::{Found, NamedPath, Names, Recording, Recordings};
use formats::{Format, Input};
use std::io;
use std::mem::take;

/// What is done with each recording: it is given its name, its format and its content.
pub(super) type Each<'e> = dyn FnMut(&str, &'static Format, &mut Input<'_>) -> io::Result<()> + 'e;

/// Hands on every recording of `paths`, and says what else there is. Whether all could be used: a file that was found in a
/// folder and is no recording is skipped, one that was named has to be one.
pub(super) fn every_recording(
    paths: impl IntoIterator<Item = NamedPath>,
    asked: Option<&'static Format>,
    context: CommandContext,
    each: &mut Each<'_>,
) -> bool {
    // Files that are no recordings, by the folder they were found in.
    let mut passed_over = Names::default();
    let mut usable = true;
    let mut refuse = |why: &str| {
        context.terminal.error(why);
        usable = false;
    };
    for found in Recordings::find(paths) {
        match found {
            Found::Recording(recording) => match one(&recording, asked, each) {
                Ok(true) => {}
                Ok(false) => passed_over.push(|| recording.path.display().to_string()),
                Err(why) => refuse(&why),
            },
            Found::Unsearched(_, why) => refuse(&why),
            Found::Searched(folder, notes) => {
                let other = take(&mut passed_over).left_out(&folder, "not recordings");
                notes.iter().chain(&other).for_each(|note| context.terminal.note(note));
            }
        }
    }
    usable
}

/// Hands on a file; whether it is a recording, which one need not be that was found in a folder.
fn one(recording: &Recording, asked: Option<&'static Format>, each: &mut Each<'_>) -> Result<bool, String> {
    let shown = recording.path.display();
    let why = |failure: Failure| match failure {
        Failure::Rejected(name, rejection) => no_recording(&name, &rejection),
        Failure::Unusable(why) | Failure::NotRun(why) => why,
        Failure::OutputClosed => format!("{shown} was not read to its end"),
    };
    let mut source = open(&recording.path).map_err(why)?;
    let name = source.name;
    let found = recorded(recording, &mut *source.reader, asked, &name).map_err(why)?;
    let Some((mut input, format)) = found else { return Ok(false) };
    each(&name, format, &mut input).map_err(|error| format!("{name} cannot be read: {error}"))?;
    Ok(true)
}
