//! What a recording has, message by message, whatever is wrong with it: a faulty message is one of its own.

use super::judge::pairing::RecordedMessage;
use super::judge::{Defect, Finding};
use crate::files::open_regular;
use formats::{Format, Input, ReadError, ReadOptions, Tolerance, walk};
use std::io::{self, Seek as _};
use std::path::Path;
use transcript::clauses;
use transcript::session::Content;

/// A recording that could be read.
#[derive(Debug)]
pub(super) struct Recording {
    /// Its format.
    pub(super) format: &'static Format,
    /// What is where messages belong.
    pub(super) written: Vec<RecordedMessage>,
    /// Why the contract rejects it although its messages can be read, but for what a clause leaves open.
    pub(super) rejected: Option<Finding>,
}

/// Reads the file, in the format that was asked for or else the one that its content shows; or says why it cannot be read.
pub(super) fn read(path: &Path, format: Option<&'static Format>) -> Result<Recording, Finding> {
    let none = |says: &str| Finding::new(Defect::NoRecording, None, 0, says);
    let unreadable = |says: String| Finding::new(Defect::Unreadable, None, 0, says);
    let mut file = open_regular(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => none("the recorder wrote no recording"),
        _ => none(&format!("the recording cannot be opened: {error}")),
    })?;
    if file.metadata().is_ok_and(|it| it.len() == 0) {
        return Err(none("the recording is empty"));
    }
    let refused = |error: ReadError| match error {
        ReadError::Rejected(rejection) => {
            let (line, message) = (rejection.position.line, &rejection.message);
            let clause = rejection.clause;
            unreadable(format!("the recording cannot be read: line {line}: {message} ({clause})")).on(line)
        }
        other => unreadable(format!("the recording cannot be read: {other}")),
    };
    let is_open = |error: &ReadError| match error {
        // What these two leave open, the reader reads.
        ReadError::Rejected(it) if matches!(it.clause, "JRP-LINE" | "RPL-END") => false,
        ReadError::Rejected(it) => clauses::find(it.clause).is_some_and(|clause| clause.open),
        _ => false,
    };
    let mut input = Input::new(&mut file).map_err(refused)?;
    let format = match format {
        Some(format) => format,
        None => formats::detect(&mut input).map_err(refused)?.ok_or_else(|| {
            unreadable("the format of the recording is unknown; name it with --format".to_owned())
        })?,
    };
    let mut written = Vec::new();
    let options = ReadOptions::new(Tolerance::Faults);
    format
        .entries(&mut input, options, &mut |entry| {
            let (text, noise) = match &entry.content {
                Content::Message(message) => (message.text().to_owned(), false),
                Content::Noise(noise) => (noise.text.clone().into_owned(), true),
                _ => return Ok(()),
            };
            written.push(RecordedMessage {
                side: entry.side,
                time: entry.time,
                text,
                line: entry.location.line,
                noise,
            });
            Ok(())
        })
        .map_err(refused)?;
    let strict = file
        .rewind()
        .map_err(ReadError::Io)
        .and_then(|()| walk(format, &mut Input::new(&mut file)?, ReadOptions::default(), &mut |_| Ok(())));
    let rejected = strict.err().filter(|error| !is_open(error)).map(refused);
    Ok(Recording { format, written, rejected })
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::drive::judge::Defect;
    use std::fs;

    #[test]
    fn a_recording_is_read_with_its_faults() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        assert_eq!(read(&path, None).unwrap_err().kind, Defect::NoRecording);
        let kind = |text: &str| {
            fs::write(&path, text).unwrap();
            read(&path, None).map(|it| it.written.len()).map_err(|finding| (finding.kind, finding.line))
        };
        assert_eq!(kind(""), Err((Defect::NoRecording, None)));
        assert_eq!(kind("garbage"), Err((Defect::Unreadable, None)));
        let rejected = |text: &str| {
            fs::write(&path, text).unwrap();
            read(&path, None).unwrap().rejected.map(|finding| (finding.kind, finding.line))
        };
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let trace = |raw: &str| format!(r#"{{"t":"2026-01-01T00:00:00.000Z","dir":"out","raw":{raw}}}"#);
        let meta = r#"{"v":1,"type":"meta","startedAt":"","label":"","command":[]}"#;
        let unreadable = |line| Some((Defect::Unreadable, Some(line)));
        assert_eq!(rejected(ping), None);
        assert_eq!(rejected(&format!("{ping}\na banner\n")), unreadable(2));
        assert_eq!(rejected(&format!("{meta}\n{}\n", trace("{not json}"))), unreadable(2));
        assert_eq!(rejected(&format!("{}\n", trace(ping))), unreadable(1));
        // A clause leaves it open.
        assert_eq!(rejected(&format!("{meta}\n{}\n", trace("\"a banner\""))), None);
        assert_eq!(kind(&format!("{ping}\n{}\n{ping}", ping.replace("2.0", "1.0"))), Ok(3));
        assert_eq!(kind(&format!("{ping}\n{ping}\u{0}\n")), Ok(2));
        fs::write(&path, [ping.as_bytes(), b"\n\"\xff\"\n"].concat()).unwrap();
        let finding = read(&path, None).unwrap_err();
        assert_eq!((finding.kind, finding.line), (Defect::Unreadable, Some(2)));
        assert!(finding.says.contains("line 2") && finding.says.contains("SRV-BYTES"), "{}", finding.says);
    }
}
