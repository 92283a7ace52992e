//! What becomes of a recording when it ends: a file for each session, in the format that was asked for.

use super::context::CommandContext;
use formats::{Format, ReadOptions, Session, sessions};
use std::fs;
use std::path::{Path, PathBuf};
use verdict::plain::counted;
use wire::files::{Access, identity, may_write, replace};

/// What was recorded, and what was asked for.
pub(super) struct Recording<'r> {
    /// Where it is, in the format that is written live.
    pub(super) kept: &'r Path,
    pub(super) native: &'r Format,
    /// What that file was when it was made.
    pub(super) identity: Option<(u64, u64)>,
    /// The file and the format that were asked for.
    pub(super) out: &'r Path,
    pub(super) format: &'r Format,
    /// Write over files that are there.
    pub(super) force: bool,
}

impl Recording<'_> {
    /// Writes what was asked for, each session with what `annotate` adds. Whether all is there; else the recording stays.
    pub(super) fn finish(&self, annotate: &dyn Fn(&mut Session), context: CommandContext) -> bool {
        if identity(self.kept) != self.identity {
            let kept = self.kept.display();
            context.terminal.error(&format!("{kept} is gone: another program moved, removed or replaced it"));
            return false;
        }
        let mut unloadable = Vec::new();
        let done = self.write(annotate, &mut unloadable);
        // From the last, as they were written.
        if let Some(first) = unloadable.pop() {
            let more = match unloadable.len() {
                0 => String::new(),
                more => format!("; nor all that is in {}", counted(more, "other file")),
            };
            let format = self.format.name;
            context.terminal.note(&format!("{format} does not load all that is in {first}{more}"));
        }
        match &done {
            Ok(files) if files.len() > 1 => {
                let [first, .., last] = &files[..] else { return true };
                let (first, last) = (first.display(), last.display());
                context
                    .terminal
                    .note(&format!("{} sessions, a file for each: {first} to {last}", files.len()));
            }
            Ok(_) => {}
            Err(why) => {
                context.terminal.error(&format!("{why}; what was recorded is in {}", self.kept.display()));
            }
        }
        done.is_ok()
    }

    /// The files. Memory: what was recorded, twice, and one session of it as it is converted.
    fn write(
        &self,
        annotate: &dyn Fn(&mut Session),
        unloadable: &mut Vec<String>,
    ) -> Result<Vec<PathBuf>, String> {
        let Self { kept, native, out, format, force, .. } = *self;
        let converted = kept != out;
        if !converted && !native.carries.exchanges {
            return Ok(Vec::new());
        }
        let shown = out.display();
        let bytes = fs::read(kept).map_err(|error| format!("{shown} was not written: {error}"))?;
        // Where the disk was full from the beginning, there is nothing to part.
        if !converted && bytes.is_empty() {
            return Ok(Vec::new());
        }
        let parts = sessions(native, &bytes)
            .map_err(|error| format!("the sessions of {shown} cannot be separated: {error}"))?;
        let names: Vec<PathBuf> = (1..=parts.len()).map(|number| numbered(out, number)).collect();
        for name in &names[1..] {
            may_write(name, force)?;
        }
        if !converted && parts.len() == 1 {
            return Ok(names);
        }
        let mut faults = Vec::new();
        // The first one last: until then an archive of that name holds all of them.
        for (part, name) in parts.iter().zip(&names).rev() {
            let done = match converted {
                true => convert(part, name, native, format, annotate).map(|why| unloadable.extend(why)),
                false => replace(name, Access::Private, |out| out.write_all(part))
                    .map_err(|error| format!("{} was not written: {error}", name.display())),
            };
            faults.extend(done.err());
            if !converted && !faults.is_empty() {
                break;
            }
        }
        if !faults.is_empty() {
            faults.reverse();
            return Err(faults.join("; "));
        }
        if converted {
            fs::remove_file(kept)
                .map_err(|error| format!("{} cannot be removed: {error}", kept.display()))?;
        }
        Ok(names)
    }
}

/// Where a session waits that is to be converted.
pub(super) fn between(out: &Path, native: &Format) -> PathBuf {
    let (name, ending) = native.file.split_once('.').unwrap_or((native.name, ""));
    let added = if name == ending { ending } else { native.file };
    let mut path = out.as_os_str().to_owned();
    path.push(format!(".{added}"));
    PathBuf::from(path)
}

/// The file of the session of this number, from 1: `session.jsonl`, `session-2.jsonl`, `session-3.jsonl`.
pub(super) fn numbered(out: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return out.to_owned();
    }
    let mut name = out.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(ending) = out.extension() {
        name.push(".");
        name.push(ending);
    }
    out.with_file_name(name)
}

/// Writes a session that was recorded as `native` in another format, with what `annotate` adds; what of the file the format's own
/// program does not load.
fn convert(
    recorded: &[u8],
    out: &Path,
    native: &Format,
    format: &Format,
    annotate: &dyn Fn(&mut Session),
) -> Result<Option<String>, String> {
    let shown = out.display();
    let faulty =
        |error| format!("{shown} was not written, since a message in the session has a fault: {error}");
    let mut session = Session::of(native, recorded, ReadOptions::default()).map_err(faulty)?;
    if let Some(loss) = session.losses(format).into_iter().find(|loss| loss.clause.is_some()) {
        let clause = loss.clause.unwrap_or_default();
        return Err(format!(
            "{shown} was not written: {} cannot carry {} ({clause})",
            format.name, loss.what
        ));
    }
    annotate(&mut session);
    let written = replace(out, Access::Private, |out| format.write(&session, out));
    written.map_err(|error| format!("{shown} was not written: {error}"))?;
    Ok((format.unloadable)(&session).map(|there| {
        // By the lines of what was written: the other file is removed.
        let again =
            fs::read(out).ok().and_then(|bytes| Session::of(format, &bytes, ReadOptions::default()).ok());
        let what = again.and_then(|session| (format.unloadable)(&session)).unwrap_or(there).what;
        format!("{shown}: {what}")
    }))
}

#[cfg(test)]
mod tests {
    use super::numbered;
    use std::path::Path;

    #[test]
    fn the_number_of_a_session_stands_before_the_ending() {
        for (out, second) in [
            ("a/session.jsonl", "a/session-2.jsonl"),
            ("session.v1.har", "session.v1-2.har"),
            ("session", "session-2"),
            (".har", ".har-2"),
        ] {
            assert_eq!(numbered(Path::new(out), 1), Path::new(out));
            assert_eq!(numbered(Path::new(out), 2), Path::new(second));
        }
    }
}
