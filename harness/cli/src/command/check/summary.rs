//! The results of the recordings, in their order: to the output, to the standard error, and as an exit code.
//!
//! Memory: what the renderer holds, and for the folder at hand a few names of what is not a recording.

use super::judge::Done;
use crate::command::context::{CommandContext, Failure};
use crate::exit;
use crate::recordings::Names;
use reports::check::Renderer;
use rules::record::{CheckedFile, Problem};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use verdict::plain::counted;
use wire::interrupt;

#[derive(Debug, Clone, Copy)]
pub(super) struct Telling {
    /// Warnings count as errors do.
    pub strict: bool,
    /// The output says which limits were reached.
    pub limits: bool,
    /// Other recordings of a folder may belong to another part.
    pub sharded: bool,
}

/// What came of the recordings so far.
pub(super) struct Summary {
    context: CommandContext,
    renderer: Box<dyn Renderer>,
    out: BufWriter<Box<dyn Write>>,
    telling: Telling,
    /// Files of the folder at hand that are not recordings.
    passed_over: Names,
    /// How many files of the folder at hand were judged.
    judged_in: u64,
    judged: u64,
    skipped: u64,
    problems: u64,
    failed: bool,
}

impl Summary {
    /// Nothing was judged so far.
    pub(super) fn new(
        renderer: Box<dyn Renderer>,
        out: Box<dyn Write>,
        telling: Telling,
        context: CommandContext,
    ) -> Self {
        Self {
            context,
            renderer,
            out: BufWriter::new(out),
            telling,
            passed_over: Names::default(),
            judged_in: 0,
            judged: 0,
            skipped: 0,
            problems: 0,
            failed: false,
        }
    }

    /// What came of the next one. It is shown at once.
    pub(super) fn take(&mut self, done: Done) -> Result<(), Failure> {
        match done {
            Done::Judged(file, in_folder) => {
                self.judged_in += u64::from(in_folder);
                self.file(&file)?;
            }
            Done::OtherRevision(name, why, in_folder) => {
                self.judged_in += u64::from(in_folder);
                self.problem(&name, &why)?;
            }
            Done::NoRecording(name) => self.passed_over.push(|| name),
            Done::Skipped(failed, in_folder) => {
                self.judged_in += u64::from(in_folder);
                self.skipped += 1;
                self.failed |= failed;
            }
            // What an interrupt cut short is of the rest, which has a line of its own.
            Done::Unusable(..) if interrupt::requested() => {}
            Done::Unusable(name, why) => self.problem(&name, &why)?,
            Done::Searched(folder, notes) => self.searched(&folder, &notes)?,
            Done::Failed(failure) => return Err(failure),
        }
        Ok(self.out.flush()?)
    }

    fn file(&mut self, file: &CheckedFile) -> io::Result<()> {
        self.judged += 1;
        self.failed |= file.is_failure(self.telling.strict);
        self.context.terminal.detail(&format!("{} is read as {}", file.name, file.format));
        if let Some(limit) = file.limit.filter(|_| !self.telling.limits) {
            self.context.terminal.note(&format!("{}: a limit was reached: {limit}", file.name));
        }
        self.renderer.file(file, &mut self.out)
    }

    fn problem(&mut self, file: &str, why: &str) -> io::Result<()> {
        let message = if why.contains(file) { why.to_owned() } else { format!("{file}: {why}") };
        self.problems += 1;
        self.context.terminal.error(&message);
        self.renderer.problem(&Problem { file: file.to_owned(), message }, &mut self.out)
    }

    fn searched(&mut self, folder: &Path, notes: &[String]) -> io::Result<()> {
        for note in notes {
            self.context.terminal.note(note);
        }
        let passed_over = std::mem::take(&mut self.passed_over);
        if let Some(note) = passed_over.left_out(folder, "not a recording") {
            self.context.terminal.note(&note);
        }
        match std::mem::take(&mut self.judged_in) {
            0 if !self.telling.sharded => {
                self.problem(&folder.display().to_string(), "no recordings were found in it")
            }
            _ => Ok(()),
        }
    }

    pub(super) fn finish(mut self) -> Result<u8, Failure> {
        if interrupt::requested() {
            let judged = counted(self.judged, "recording");
            let why = format!("interrupted after {judged}; the rest was not judged");
            self.problem("interrupted", &why)?;
        }
        if self.skipped > 0 {
            let (judged, skipped) = (counted(self.judged, "recording"), self.skipped);
            self.context.terminal.note(&format!("{judged} judged; {skipped} skipped as judged before"));
        }
        self.renderer.finish(&mut self.out)?;
        self.out.flush()?;
        Ok(interrupt::code().unwrap_or(match (self.problems, self.failed) {
            (0, false) => exit::WELL,
            (0, true) => exit::FAILED,
            _ => exit::UNUSABLE,
        }))
    }
}
