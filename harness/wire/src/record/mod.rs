//! A transparent recorder for stdio: runs a server between a client's pipes, and writes down what passes.
//!
//! Two threads forward bytes, one each way, and put a copy into a queue; a third writes the queue down. The standard
//! error is the server's own. Memory: 16 MiB for what waits, [`HELD`] for an unfinished line of each side, and the
//! blocks in hand; with redaction, a line of up to 16 MiB besides, and what it is parsed to.

mod intake;
mod line_writer;
mod long_line;
mod pump;
mod running;
mod signals;
mod trace_writer;

pub use crate::stdio::HELD;
pub use running::Server;
pub use trace_writer::Summary;

use crate::files::Growing;
use crate::proxy::EMPTY;
use crate::redaction::Redaction;
use crate::stdio::standard_streams;
use crate::{Notify, StartError};
use intake::Intake;
use line_writer::LineWriter;
use pump::Pump;
use running::Running;
use std::fs::File;
use std::io::{self, PipeWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use trace_writer::TraceWriter;
use transcript::session::Side;

/// How long the file may keep the end of a session waiting.
const LAST_WRITE: Duration = Duration::from_secs(2);

/// What is to be recorded, and where to.
#[derive(Debug)]
pub struct Plan {
    /// The server.
    pub server: Server,
    /// The file.
    pub out: PathBuf,
    /// The same, opened.
    pub output: Growing,
    /// The name of the trace; the server's own where there is none.
    pub label: Option<String>,
    /// What is to be taken out.
    pub redaction: Redaction,
    /// Keep the server's last words on its standard error instead of showing them, and leave signals to who started this.
    pub apart: bool,
}

/// A session that was recorded.
#[derive(Debug)]
pub struct Recorded {
    /// Where it is.
    pub path: PathBuf,
    /// The server's exit code; 128 and the signal's number where a signal ended it.
    pub exit: i32,
    /// What the file holds.
    pub summary: Summary,
    /// Why the client could not be given all that the server said; none also where it wanted no more.
    pub refused: Option<io::Error>,
}

/// Fills the holes of a file's name: `{time}` and `{pid}`.
///
/// # Errors
/// A sentence, where it has other holes, or is that of the standard output.
pub fn file_name(path: &Path) -> Result<PathBuf, String> {
    fill_placeholders(path, now())
}

fn fill_placeholders(path: &Path, now: i64) -> Result<PathBuf, String> {
    let Some(text) = path.to_str() else { return Ok(path.to_owned()) };
    if text == "-" {
        return Err("a recording goes to a file: name one, or write `./-` for one of that name".to_owned());
    }
    // Colons are not allowed in the names of some systems.
    let time: String =
        formats::time::write(now).chars().filter(|char| !matches!(char, '-' | ':' | '.')).collect();
    let filled = text.replace("{time}", &time).replace("{pid}", &process::id().to_string());
    let unknown = filled.split('{').skip(1).find_map(|rest| Some(rest.split_once('}')?.0));
    match unknown.filter(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase())) {
        Some(word) => {
            Err(format!("nothing is filled in for `{{{word}}}`, only for `{{time}}` and `{{pid}}`"))
        }
        None => Ok(PathBuf::from(filled)),
    }
}

/// The time, in milliseconds of the Unix epoch.
pub fn now() -> i64 {
    Intake::new().time()
}

/// Opens a file for an archive, which is written in place, since its end moves. It is an archive of nothing at once.
///
/// # Errors
/// A sentence, where something is there already, it cannot be written, or it is not a file.
pub fn create_in_place(path: &Path, force: bool) -> Result<File, String> {
    let mut output = Growing::create(path, force)?;
    // Where there is no room for it, the first exchange reports it.
    let _ = output.append(|file| file.write_all(EMPTY.as_bytes()));
    let file = output.into_file();
    file.ok_or_else(|| {
        format!("{} is not a regular file, and this format is written in place", path.display())
    })
}

/// Runs the server between the standard streams of this process, and records what goes through them.
///
/// # Errors
/// Where the server cannot be used. Whatever happens later is a matter of the recording.
pub fn run(plan: Plan, notify: Box<dyn Notify>) -> Result<Recorded, StartError> {
    let own = || standard_streams().map_err(|error| StartError::CannotRun(error.into_text()));
    Ok(Live::start(plan, Arc::from(notify), own)?.finish())
}

/// A session that is being recorded.
pub(crate) struct Live {
    path: PathBuf,
    intake: Arc<Intake>,
    pub(crate) server: Running,
    over: PipeWriter,
    forwarded: Receiver<io::Result<()>>,
    written: Receiver<Summary>,
}

impl Live {
    /// Starts the server, and then records what passes between it and the client at these ends.
    pub(crate) fn start(
        plan: Plan,
        notify: Arc<dyn Notify>,
        client: impl FnOnce() -> Result<(File, File), StartError>,
    ) -> Result<Self, StartError> {
        let intake = Arc::new(Intake::new());
        let started = intake.time();

        let is_new = plan.output.is_new();
        let started_server = plan.server.start(&plan.redaction, plan.apart, Arc::clone(&notify));
        let (server, to_server, from_server) = started_server.inspect_err(|_| {
            if is_new {
                let _ = std::fs::remove_file(&plan.out);
            }
        })?;

        let (name, redacted) = plan.server.names(&plan.redaction);
        let label = plan.redaction.text(plan.label.as_deref().unwrap_or(&name)).into_owned();
        let Plan { out: path, output, redaction, .. } = plan;
        let trace = TraceWriter {
            intake: Arc::clone(&intake),
            output,
            path: path.clone(),
            notify,
            started,
            meta: line_writer::meta(started, &label, &redacted),
            begun: false,
            written: [0; 2],
            writer: LineWriter::new(redaction),
            sides: Default::default(),
            block: Default::default(),
            summary: Summary::default(),
            gap: [0; 2],
        };
        let (done, written) = channel();
        thread::spawn(move || {
            let _ = done.send(trace.run());
        });
        let (over, forwarded) = forward(client()?, (from_server, to_server), &intake).map_err(|error| {
            StartError::CannotRun(format!("the standard streams cannot be used: {error}"))
        })?;
        Ok(Self { path, intake, server, over, forwarded, written })
    }

    /// Waits for the server to end, and for the last line.
    pub(crate) fn finish(self) -> Recorded {
        let Self { path, intake, server, over, forwarded, written } = self;
        let exit = server.wait();
        intake.gone(Side::Server);
        drop(over);
        let refused = forwarded.recv().ok().and_then(Result::err);
        intake.close(exit);
        let summary = wait_for_summary(&written, &intake);
        Recorded { path, exit: exit.code.unwrap_or(1), summary, refused }
    }
}

/// Starts forwarding both ways. Drop the sender once the server has ended; the receiver ends when all
/// output has been passed on.
fn forward(
    (client_in, client_out): (File, File),
    (server_out, server_in): (File, File),
    intake: &Arc<Intake>,
) -> io::Result<(PipeWriter, Receiver<io::Result<()>>)> {
    [&client_in, &client_out, &server_in, &server_out].into_iter().for_each(widen);
    let (is_over, over) = io::pipe()?;
    let (done, forwarded) = channel();
    let pump = |side, from, to, over| Pump { side, from, to, intake: Arc::clone(intake), over, full: None };
    let asking = pump(Side::Client, client_in, server_in, None);
    let answering = pump(Side::Server, server_out, client_out, Some(is_over));
    // Nobody waits for the first: a client that says nothing more may keep its end open for ever.
    thread::spawn(move || asking.run());
    thread::spawn(move || {
        let _ = done.send(answering.run());
    });
    Ok((over, forwarded))
}

/// Gives a pipe more room, so that a long message goes through in fewer steps. Where that is refused, it goes slower.
fn widen(pipe: &File) {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, 1 << 20);
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}

/// Waits for the last line, but not for a file that hangs.
fn wait_for_summary(written: &Receiver<Summary>, intake: &Intake) -> Summary {
    loop {
        match written.recv_timeout(LAST_WRITE / 20) {
            Ok(summary) => return summary,
            Err(RecvTimeoutError::Timeout) if !intake.queue.is_stuck(LAST_WRITE) => {}
            Err(_) => {
                return Summary {
                    trouble: Some("it does not take what is written".to_owned()),
                    given_up: true,
                    ..Summary::default()
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fill_placeholders;
    use std::path::Path;

    #[test]
    fn placeholders_are_filled() {
        let filled = |name| fill_placeholders(Path::new(name), 0);
        let expected = format!("a/19700101T000000000Z-{}.jsonl", std::process::id());
        assert_eq!(filled("a/{time}-{pid}.jsonl").as_deref(), Ok(Path::new(&expected)));
        assert_eq!(filled("{0}/{}-{.jsonl").as_deref(), Ok(Path::new("{0}/{}-{.jsonl")));
        for (wrong, why) in [("{time}-{host}.jsonl", "for `{host}`"), ("-", "a file")] {
            assert!(filled(wrong).unwrap_err().contains(why), "{wrong}");
        }
    }
}
