//! `report --official`: results of the official suite beside the recordings of its run.

use super::super::context::{CommandContext, Failure};
use super::super::every::every_recording;
use super::super::outcome::watch;
use super::super::site::{Site, put};
use super::super::small_file;
use crate::exit;
use crate::terminal::data_out;
use app::Official;
use reports::official::{OfficialRun, junit, markdown, sarif, text};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// The name of the files that the suite leaves.
const CHECKS: &str = "checks.json";

/// Joins the results with the recordings, prints what fell short, and writes the site.
pub(super) fn run(
    results: &[PathBuf],
    recordings: &[PathBuf],
    out: Option<&Path>,
    context: CommandContext,
) -> Result<u8, Failure> {
    let mut texts = Vec::new();
    for path in results {
        for file in files(path)? {
            let name = file.display().to_string();
            let text = small_file::made(&file).map_err(|error| format!("{name} cannot be read: {error}"))?;
            texts.push((name, text));
        }
    }
    let mut official = Official::new(texts.iter().map(|(name, text)| (&**name, &**text)))?;
    let usable = every_recording(recordings.iter().cloned().map(Ok), context, &mut |recording| {
        official.add(recording)
    });
    let (run, notes) = official.finish()?;
    notes.iter().for_each(|note| context.terminal.note(note));
    data_out().write_all(text::text(&run).as_bytes())?;
    if let Some(out) = out {
        // Not before: a pipe that nobody writes to is waited for until a signal ends the program.
        watch()?;
        write(&run, out)?;
        context.terminal.note(&format!("written to {}", out.join("index.html").display()));
    }
    Ok(if usable { exit::WELL } else { exit::UNUSABLE })
}

/// The results that a path names: a file, or those in a folder, by name.
fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in WalkDir::new(path).sort_by_file_name() {
        let entry = entry.map_err(|error| format!("{} cannot be searched: {error}", path.display()))?;
        if entry.file_name() == CHECKS {
            found.push(entry.into_path());
        }
    }
    match found.is_empty() {
        true => Err(format!("{} holds no {CHECKS} of the official suite", path.display()).into()),
        false => Ok(found),
    }
}

fn write(run: &OfficialRun, out: &Path) -> Result<(), Failure> {
    let site = Site {
        official: Some(run),
        records: Vec::new(),
        runs: Vec::new(),
        compared: None,
        findings: None,
        own: &[],
        compact: false,
    };
    site.write(out)?;
    put(out, "junit.xml", &junit::render(run))?;
    put(out, "summary.md", &markdown::render(run))?;
    let sarif = sarif::render(run, app::VERSION);
    put(out, "official.sarif", &sarif.map_err(|error| error.to_string())?)
}
