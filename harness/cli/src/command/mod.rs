//! The commands of the program, one a file.

mod base_session;
mod baseline;
mod bundle;
mod carrier;
mod check;
mod context;
mod convert;
mod diff;
mod drive;
mod every;
mod explain;
mod fuzz;
mod generate;
pub(crate) mod help;
mod identify;
mod importer_args;
mod input;
mod kept;
mod listen;
mod live;
mod new;
mod outcome;
mod own_page;
mod play;
mod probe;
mod read;
mod record;
mod recorded;
mod records;
mod redact;
mod reference;
mod report;
mod results;
mod run;
mod scaling;
mod show;
mod site;
mod small_file;
mod stats;
mod suites;
mod summary;
mod surface;
mod values;
mod variants;
mod view;
mod wrap;

pub(crate) use context::{CommandContext, Failure};

/// Every command, in the order of the help. A new one is a file of this folder (with its `mod` above) and a line here: the
/// help, the manual page, the completions and the pages in docs/ are derived from its options.
pub(crate) const COMMANDS: &[&dyn Command] = &[
    &Entry { name: SUMMARY, run: summary::run },
    &Entry { name: "read", run: read::run },
    &Entry { name: "diff", run: diff::run },
    &Entry { name: "convert", run: convert::run },
    &Entry { name: "check", run: check::run },
    &Entry { name: "show", run: show::run },
    &Entry { name: "run", run: run::run },
    &Entry { name: "explain", run: explain::run },
    &Entry { name: "generate", run: generate::run },
    &Entry { name: "fuzz", run: fuzz::run },
    &Entry { name: "new", run: new::run },
    &Entry { name: "identify", run: identify::run },
    &Entry { name: "stats", run: stats::run },
    &Entry { name: "surface", run: surface::run },
    &Entry { name: "report", run: report::run },
    &Entry { name: "record", run: record::run },
    &Entry { name: "wrap", run: wrap::wrap },
    &Entry { name: "unwrap", run: wrap::unwrap },
    &Entry { name: "redact", run: redact::run },
    &Entry { name: "bundle", run: bundle::run },
    &Entry { name: "drive", run: drive::run },
    &Entry { name: "play", run: play::run },
    &Entry { name: "probe", run: probe::run },
    &Entry { name: "completions", run: reference::completions },
    &Entry { name: "man", run: reference::man },
    &Entry { name: "options", run: reference::options },
];

/// The command that a file stands for which is named without one.
pub(crate) const SUMMARY: &str = "summary";

/// A command of the program.
pub(crate) trait Command {
    /// Its name. To describe every command in order to find one takes as long as many commands run.
    fn name(&self) -> &'static str;

    /// Its name and options.
    fn describe(&self) -> clap::Command;

    /// Runs it with the options that were given.
    fn run(&self, matches: &clap::ArgMatches, context: CommandContext) -> Result<u8, Failure>;
}

/// A command as the table has it: `A` are its options.
struct Entry<A> {
    name: &'static str,
    run: fn(&A, CommandContext) -> Result<u8, Failure>,
}

impl<A: clap::Args> Command for Entry<A> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn describe(&self) -> clap::Command {
        A::augment_args(clap::Command::new(self.name))
    }

    fn run(&self, matches: &clap::ArgMatches, context: CommandContext) -> Result<u8, Failure> {
        let args = A::from_arg_matches(matches).map_err(|error| error.to_string())?;
        (self.run)(&args, context)
    }
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS, Command as _, CommandContext, Entry, Failure};
    use crate::terminal::Terminal;

    /// Juggles.
    #[derive(clap::Args)]
    struct MadeUp {
        /// How many balls.
        #[arg(long, value_name = "N", default_value_t = 3)]
        balls: u8,
    }

    fn juggle(args: &MadeUp, _: CommandContext) -> Result<u8, Failure> {
        Ok(args.balls)
    }

    #[test]
    fn a_command_needs_its_line_and_no_other() {
        let entry = Entry { name: "juggle", run: juggle };
        let program = || crate::program(&[COMMANDS, &[&Entry { name: "juggle", run: juggle }]].concat());
        let help = program().render_help().to_string();
        assert!(help.contains("juggle") && help.contains("Juggles"), "{help}");
        let script = super::reference::script(clap_complete::Shell::Bash, program());
        assert!(String::from_utf8(script).unwrap().contains("juggle"));
        let options = super::reference::page(&program(), "juggle").unwrap();
        assert!(options.contains("| `--balls N` | `3` | How many balls |"), "{options}");
        let matches = program().get_matches_from(["mcp-concord", "juggle", "--balls", "5"]);
        let (name, matches) = matches.subcommand().unwrap();
        let context = CommandContext { terminal: Terminal::default(), program };
        assert_eq!((name, entry.run(matches, context).unwrap()), ("juggle", 5));
    }

    #[test]
    fn the_command_line_holds_together() {
        crate::program(COMMANDS).debug_assert();
    }
}
