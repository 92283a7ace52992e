//! Every recording that a command line names: opened and handed on, one after the other.

use super::context::{CommandContext, Failure, no_recording};
use super::input::open;
use crate::recordings::{Found, NamedPath, Names, Recordings};
use app::{Cause, Error, Recording};
use std::mem::take;

/// Hands on every recording of `paths`, and says what else there is. Whether all could be used: a file that was found in a
/// folder and is not a recording is skipped, one that was named has to be one.
pub(super) fn every_recording(
    paths: impl IntoIterator<Item = NamedPath>,
    context: CommandContext,
    each: &mut dyn FnMut(&mut Recording<'_>) -> Result<(), Error>,
) -> bool {
    // Files that are not recordings, by the folder they were found in.
    let mut passed_over = Names::default();
    // How many recordings the folder holds so far.
    let mut held = 0;
    let mut usable = true;
    let mut refuse = |why: &str| {
        context.terminal.error(why);
        usable = false;
    };
    for found in Recordings::find(paths) {
        match found {
            Found::Recording(file) => {
                let shown = file.path.display();
                let done = open(&file.path, context.terminal).and_then(|recording| {
                    match each(&mut Recording { found: file.folder.is_some(), ..recording }) {
                        Err(Error { cause: Cause::NoRecording, .. }) => {
                            passed_over.push(|| shown.to_string())
                        }
                        done => {
                            held += usize::from(file.folder.is_some());
                            done?;
                        }
                    }
                    Ok(())
                });
                match done {
                    Ok(()) => {}
                    Err(Failure::Rejected(name, rejection)) => refuse(&no_recording(&name, &rejection)),
                    Err(Failure::Unusable(why) | Failure::NotRun(why)) => refuse(&why),
                    Err(Failure::OutputClosed) => refuse(&format!("{shown} was not read to its end")),
                }
            }
            Found::Unsearched(_, why) => refuse(&why),
            Found::Searched(folder, notes) => {
                let other = take(&mut passed_over).left_out(&folder, "not a recording");
                notes.iter().chain(&other).for_each(|note| context.terminal.note(note));
                if take(&mut held) == 0 {
                    refuse(&format!("{}: no recordings were found in it", folder.display()));
                }
            }
        }
    }
    usable
}
