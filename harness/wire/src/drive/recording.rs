//! What a recording has, message by message, whatever is wrong with it: a faulty message is one of its own.

use super::judge::pairing::RecordedMessage;
use super::judge::{Defect, Finding};
use crate::files::open_regular;
use formats::{Format, Input, ReadError, ReadOptions, Tolerance};
use std::io;
use std::path::Path;
use transcript::session::Content;

/// A recording that could be read.
#[derive(Debug)]
pub(super) struct Recording {
    /// Its format.
    pub(super) format: &'static Format,
    /// What is where messages belong.
    pub(super) written: Vec<RecordedMessage>,
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
    Ok(Recording { format, written })
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
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        assert_eq!(kind(&format!("{ping}\n{}\n{ping}", ping.replace("2.0", "1.0"))), Ok(3));
        assert_eq!(kind(&format!("{ping}\n{ping}\u{0}\n")), Ok(2));
        fs::write(&path, [ping.as_bytes(), b"\n\"\xff\"\n"].concat()).unwrap();
        let finding = read(&path, None).unwrap_err();
        assert_eq!((finding.kind, finding.line), (Defect::Unreadable, Some(2)));
        assert!(finding.says.contains("line 2") && finding.says.contains("SRV-BYTES"), "{}", finding.says);
    }
}
