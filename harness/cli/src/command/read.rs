//! `read`: prints the meaning of a transcript.

use super::context::{CommandContext, Failure};
use super::input::{named_format, reading};
use crate::exit;
use crate::terminal::data_out;
use formats::{Format, MeaningWriter, ReadOptions, Step, Tolerance, walk};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::PathBuf;
use tempfile::SpooledTempFile;
use transcript::dialect::{self, Dialect};
use transcript::rejection::Rejection;
use transcript::session::{Content, SinkError};

/// Up to this size a meaning waits in memory until the transcript is known to be whole, then in a temporary file.
const IN_MEMORY: usize = 16 << 20;

/// How much is written at a time.
const BLOCK: usize = 1 << 16;

/// Prints the meaning of a transcript as JSON: what happened, in order, who answered what.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord read session.har                      the format is detected
  mcp-concord read --calls trace.jsonl              only tool calls and their outcomes
  mcp-concord read --format http-sse - < capture    from the standard input
  mcp-concord read --dialect typed-ids session.har  ids as JSON-RPC has them
  mcp-concord read --lenient noisy.jsonl            skip what is not a message, and list it

Nothing is printed of a transcript that is rejected. 

Exit code 0: read; 1: rejected; 2: it cannot be opened.")]
pub(crate) struct Args {
    /// The transcript; `-` is the standard input.
    file: PathBuf,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
    /// Print only tool calls and their outcomes.
    #[arg(long)]
    calls: bool,
    /// Read and judge by this dialect of the contract: default, or typed-ids.
    #[arg(long, value_name = "NAME", value_parser = dialect::find, default_value = "default")]
    dialect: &'static Dialect,
    /// Skip what is not a message where one belongs, and show where it was.
    #[arg(long)]
    lenient: bool,
    /// Answer as a program under test does: an answer object, or a rejection and exit code 65.
    #[arg(long, hide = true, conflicts_with = "calls")]
    answer: bool,
}

/// Runs the command.
///
/// # Errors
/// Where the transcript cannot be opened or is rejected.
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    // A meaning is given out whole or not at all, so it waits until the last byte has been read.
    let mut spool = SpooledTempFile::new(IN_MEMORY);
    let mut writer = if args.calls { MeaningWriter::of_calls() } else { MeaningWriter::new() };
    let mut failed: Option<io::Error> = None;
    let tolerance = if args.lenient { Tolerance::Noise } else { Tolerance::Nothing };
    let options = ReadOptions { tolerance, ..ReadOptions::of(args.dialect) };
    let read = reading(&args.file, args.format, |name, format, input| {
        context.terminal.detail(&format!("{name} is read as {}", format.name));
        walk(format, input, options, &mut |step| {
            let block = match step {
                Step::Event(_, event) => {
                    writer.event(event);
                    (writer.waiting() >= BLOCK).then(|| writer.take())
                }
                Step::Context(entry) => {
                    if let Content::Noise(noise) = &entry.content {
                        context.terminal.note(&format!(
                            "{name}:{}: passed over: {}",
                            entry.location.line, noise.why.message
                        ));
                    }
                    None
                }
            };
            match block.map(|block| spool.write_all(&block)) {
                Some(Err(error)) => {
                    failed = Some(error);
                    Err(SinkError::Stop)
                }
                _ => Ok(()),
            }
        })
    });
    if let Some(error) = failed {
        return Err(Failure::Unusable(format!("the meaning cannot be kept in a temporary file: {error}")));
    }
    let (name, _, totals) = match read {
        Err(Failure::Rejected(_, rejection)) if args.answer => return reject(&rejection),
        read => read?,
    };
    writer.end(totals.authorization_discovery);
    spool.write_all(&writer.take())?;
    if args.answer {
        write!(io::stdout(), "{{\"meaning\":")?;
    }
    print(&mut spool)?;
    if args.answer {
        writeln!(io::stdout(), "}}")?;
    }
    for note in totals.notes() {
        context.terminal.note(&format!("{name}: {note}"));
    }
    context.terminal.detail(&format!("{} events, {} requests unanswered", totals.events, totals.unanswered));
    Ok(exit::WELL)
}

/// A rejection as a one-shot command answers it.
fn reject(rejection: &Rejection) -> Result<u8, Failure> {
    let words = serde_json::json!({ "code": rejection.code.name(), "message": rejection.to_string() });
    writeln!(io::stdout(), "{}", serde_json::json!({ "rejection": words }))?;
    Ok(exit::REJECTED)
}

fn print(spool: &mut SpooledTempFile) -> Result<(), Failure> {
    spool.rewind()?;
    let mut out = data_out();
    let mut block = vec![0; BLOCK];
    loop {
        match spool.read(&mut block)? {
            0 => return Ok(out.flush()?),
            length => out.write_all(&block[..length])?,
        }
    }
}
