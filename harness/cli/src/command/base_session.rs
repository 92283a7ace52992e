//! The session that a command changes: a transcript's, a case directory's, or a case's of the built-in suite.

use super::context::Failure;
use super::input::Transcript;
use super::suites::{embedded_case, only_case};
use formats::{Format, Input, ReadOptions, Session};
use generators::session_builder::{SessionBuilder, SessionError};
use mcp_concord_suite::Case;
use std::path::Path;
use verdict::expectation::Expectation;

/// A session that the caller gave, and where its meaning is from.
pub(super) struct BaseSession {
    /// The session.
    pub(super) draft: SessionBuilder,
    /// A phrase that says where its meaning is from.
    pub(super) origin: String,
}

/// The session of a file or of a case.
pub(super) fn base_session(path: &Path) -> Result<BaseSession, Failure> {
    if path.is_dir() {
        return of_case(&only_case(path)?);
    }
    let case = if path.exists() { None } else { embedded_case(&path.to_string_lossy()) };
    case.map_or_else(|| of_file(path), |case| of_case(&case))
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
    let session = Input::new(&mut &*bytes)
        .and_then(|mut input| Session::read(transcript.format, &mut input, ReadOptions::default()))
        .map_err(|error| {
            Failure::of_reading(&format!("{} of {}", transcript.format.file, case.name), error)
        })?;
    let draft = SessionBuilder::of(session, meaning.text()).map_err(|error| unfit(words(error)))?;
    Ok(BaseSession {
        draft,
        origin: format!("of the case {}, whose meaning is the one it began with", case.name),
    })
}

fn of_file(path: &Path) -> Result<BaseSession, Failure> {
    let Transcript { name, session, meaning, .. } = Transcript::open(path, None)?;
    let draft = SessionBuilder::of(session, &meaning.text)
        .map_err(|error| Failure::Unusable(format!("{name} cannot be changed: {}", words(error))))?;
    let file = path.file_name().map_or(name, |file| file.to_string_lossy().into_owned());
    Ok(BaseSession {
        draft,
        origin: format!("of the file {file}, whose meaning is what the built-in reader reads in it"),
    })
}

fn words(error: SessionError) -> String {
    match error {
        SessionError::Meaning(why) => why,
        SessionError::Message(refusal) => refusal.message,
    }
}
