//! The session that a command changes: a transcript's, a case directory's, or a case's of the built-in suite.

use super::context::Failure;
use super::input::Transcript;
use super::suites::named_case;
use crate::terminal::Terminal;
use app::Recording;
use formats::{Format, ReadOptions, Session};
use generators::session_builder::SessionBuilder;
use mcp_concord_suite::Case;
use std::path::Path;
use verdict::expectation::Expectation;

/// A session that the caller gave, and where its meaning is from.
pub(super) struct BaseSession {
    pub(super) draft: SessionBuilder,
    /// A phrase that says where its meaning is from.
    pub(super) origin: String,
}

/// The session of a file or of a case.
pub(super) fn base_session(path: &Path, terminal: Terminal) -> Result<BaseSession, Failure> {
    named_case(path)?
        .map_or_else(|| of_file(path, terminal).map_err(Failure::of_input), |case| of_case(&case))
}

fn of_case(case: &Case) -> Result<BaseSession, Failure> {
    let unfit = |why: String| Failure::Unusable(format!("the case {} cannot be changed: {why}", case.name));
    let Expectation::Meaning(meaning) = &case.expectation else {
        return Err(unfit("it expects no meaning, so the meaning of a change is unknown".to_owned()));
    };
    // The transcript that carries most: challenges first, then directions.
    let carried =
        |format: &Format| (format.carries.challenge, format.carries.direction, format.carries.times);
    let transcript = case.transcripts.iter().max_by_key(|transcript| carried(transcript.format));
    let transcript = transcript.ok_or_else(|| unfit("it has no transcript".to_owned()))?;
    let bytes = transcript.blob.bytes().map_err(|error| unfit(error.to_string()))?;
    let (_, session) = Recording::new(&format!("{} of {}", transcript.format.file, case.name), &bytes)
        .reading(Some(transcript.format), |format, input| {
            Session::read(format, input, ReadOptions::default())
        })?;
    let draft = SessionBuilder::new(session, meaning.text()).map_err(unfit)?;
    Ok(BaseSession {
        draft,
        origin: format!("of the case {}, whose meaning is the one it began with", case.name),
    })
}

fn of_file(path: &Path, terminal: Terminal) -> Result<BaseSession, Failure> {
    let Transcript { name, session, meaning, .. } = Transcript::open(path, None, terminal)?;
    let draft = SessionBuilder::new(session, &meaning.text)
        .map_err(|why| format!("{name} cannot be changed: {why}"))?;
    let file = path.file_name().map_or(name, |file| file.to_string_lossy().into_owned());
    Ok(BaseSession {
        draft,
        origin: format!("of the file {file}, whose meaning is what the built-in reader reads in it"),
    })
}
