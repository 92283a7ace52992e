//! `convert`: writes a session in another format.

use super::carrier::Carrier;
use super::context::{CommandContext, Failure};
use super::input::{format_values, name_of, named_format, open};
use crate::exit;
use crate::terminal::data_out;
use app::{Cause, ConvertOptions, Error, Outcome, Output as _};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use formats::Format;
use reports::otlp;
use reports::target::Target;
use std::io::BufWriter;
use std::path::PathBuf;
use wire::files::{Access, replace};

/// Writes a session in another capture format.
///
/// What the other format cannot carry is refused where it would change the session's meaning, and listed where it
/// is only context (times, headers, event ids).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord convert session.har --to mcp-replay > session.jsonl
  mcp-concord convert session.har --to mcp-replay -o session.jsonl
  mcp-concord convert killed.har --to har --salvage > whole.har
  mcp-concord convert trace.jsonl --to jsonrpc --lossy      even where the meaning changes; what is lost is listed
  mcp-concord convert trace.jsonl --to otlp-json > spans.json

Exit code 0: written; 1: the transcript was rejected, or the other format cannot carry it; 2: it cannot be opened.")]
pub(crate) struct Args {
    /// The transcript; `-` is the standard input.
    file: PathBuf,
    /// The format to write; otlp-json are spans for OpenTelemetry, one for each request, which nothing reads back.
    #[arg(long, value_name = "FORMAT", value_parser = named_target())]
    to: String,
    /// Write to this file instead of the standard output. A file of that name is replaced when all is written.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
    /// Write even if the meaning changes.
    #[arg(long)]
    lossy: bool,
    /// Take what is whole of a file that was cut off, as a recorder leaves it that was killed, and say what is left out.
    #[arg(long)]
    salvage: bool,
}

/// The formats that are written, and the names of what is only written.
fn named_target() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(format_values(true).chain([PossibleValue::new(otlp::NAME)]))
        .try_map(|name| Target::named(&name).map(|_| name))
}

/// Runs the command. Memory: the session, and what is written of it.
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    let Args { lossy, salvage, .. } = *args;
    let options = ConvertOptions { to: args.to.clone(), format: name_of(args.format), lossy, salvage };
    let mut carrier = Carrier::new(BufWriter::new(data_out()), context);
    let converted = match options.convert(&mut open(&args.file)?, &mut carrier) {
        Ok(converted) => converted,
        Err(Error { cause: Cause::CannotCarry(reasons), .. }) => {
            reasons.iter().for_each(|reason| context.terminal.error(reason));
            context.terminal.note("nothing was written; --lossy writes a copy with another meaning");
            return Ok(exit::FAILED);
        }
        Err(error) => return Err(error.into()),
    };
    match &args.output {
        Some(path) => replace(path, Access::of_copy(&args.file), |out| converted.write(out))
            .map_err(|error| Failure::unwritable(path, &error))?,
        None => converted.write(carrier.bytes())?,
    }
    carrier.finish(Outcome::Well)
}

#[cfg(test)]
mod tests {
    use super::{Args, run};
    use crate::command::{COMMANDS, CommandContext};
    use crate::terminal::Terminal;
    use clap::{Args as _, FromArgMatches as _};
    use std::fs;
    use std::path::Path;

    /// The exit code of `convert` with these words; none where it ended without one.
    fn converted(words: &[&Path]) -> Option<u8> {
        let program = Args::augment_args(clap::Command::new("convert").no_binary_name(true));
        let args = Args::from_arg_matches(&program.get_matches_from(words)).unwrap();
        run(&args, CommandContext { terminal: Terminal::default(), program: || crate::program(COMMANDS) })
            .ok()
    }

    #[test]
    fn a_file_is_replaced_when_all_is_written_and_stays_where_nothing_is() {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/direction/both-count-from-zero");
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        fs::write(&out, "what stood there").unwrap();
        let session = cases.join("mcp-replay.jsonl");
        let [to, jsonrpc, replay, output] = ["--to", "jsonrpc", "mcp-replay", "-o"].map(Path::new);
        assert_eq!(converted(&[&session, to, jsonrpc, output, &out]), Some(1), "it would be another session");
        assert_eq!(fs::read_to_string(&out).unwrap(), "what stood there");
        assert_eq!(converted(&[&session, to, replay, output, &out]), Some(0));
        assert!(fs::read_to_string(&out).unwrap().contains("\"jsonrpc\""));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left aside");
        assert_eq!(converted(&[&session, to, replay, output, &folder.path().join("gone/out")]), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_copy_is_as_private_as_what_was_copied() {
        use std::os::unix::fs::PermissionsExt as _;
        let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/ids/null-request/jsonrpc.jsonl");
        let folder = tempfile::tempdir().unwrap();
        let [to, jsonrpc, output] = ["--to", "jsonrpc", "-o"].map(Path::new);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        for (before, private) in [(0o600, true), (0o400, true), (0o644, false)] {
            let [original, copy] =
                ["original", "copy"].map(|name| folder.path().join(format!("{name}-{before:o}")));
            fs::copy(&case, &original).unwrap();
            fs::set_permissions(&original, fs::Permissions::from_mode(before)).unwrap();
            assert_eq!(converted(&[&original, to, jsonrpc, output, &copy]), Some(0));
            assert_eq!(mode(&copy) == 0o600, private, "{before:o}: {:o}", mode(&copy));
        }
    }

    #[test]
    fn what_is_whole_of_a_file_that_was_cut_off_is_taken_when_asked() {
        let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/recorded/everything-stdio");
        let folder = tempfile::tempdir().unwrap();
        let [cut, copy] = ["cut", "copy"].map(|name| folder.path().join(name));
        let whole = fs::read_to_string(case.join("mcp-replay.jsonl")).unwrap();
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        fs::write(&cut, lines[..5].concat() + &lines[5][..lines[5].len() / 2]).unwrap();
        let [to, replay, output, asked] = ["--to", "mcp-replay", "-o", "--salvage"].map(Path::new);
        assert_eq!(converted(&[&cut, to, replay, output, &copy]), None, "it is rejected");
        assert!(!copy.exists());
        assert_eq!(converted(&[&cut, to, replay, output, &copy, asked]), Some(0));
        let saved = fs::read_to_string(&copy).unwrap();
        let messages = |text: &str| text.matches("\"raw\"").count();
        assert_eq!(messages(&saved), messages(&lines[..5].concat()), "{saved}");
    }
}
