//! `generate`: variants whose meaning is known, as case directories. The same seed, number and version write the same bytes on
//! every machine.

use super::base_session::base_session;
use super::context::{CommandContext, Failure};
use super::outcome::watch;
use super::values::{case_name, whole, within};
use super::variants::{Maker, Tally};
use crate::exit;
use generators::seeded::Source;
use mcp_concord_suite::GeneratedCase;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use wire::files::{Access, replace_in_folder};
use wire::interrupt;

/// Writes variants of sessions as case directories, each with its expected reading.
///
/// Sessions are generated from the seed unless --from names one. A variant that must be rejected comes with its valid
/// counterpart, the same session without the fault.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/generate.txt"))]
pub(crate) struct Args {
    /// Mutate the session of this transcript, case directory or case of the suite, instead of generating sessions.
    #[arg(long, value_name = "FILE|CASE")]
    from: Option<PathBuf>,
    /// The seed of the random choices.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
    /// The number of the first variant.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = within::<0, { (1 << 53) - 1 }>)]
    first: u64,
    /// How many variants to write.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = within::<1, 1_000_000>)]
    count: u64,
    /// The folder for the cases.
    #[arg(long, value_name = "DIR", required_unless_present = "as_case")]
    out: Option<PathBuf>,
    /// Write only the first variant, as the case of this name, below `cases` or --out.
    #[arg(long, alias = "materialise", value_name = "NAME", value_parser = case_name, conflicts_with = "count")]
    as_case: Option<String>,
    /// Write into a folder that is not empty, and overwrite cases of the same name.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    let given = args.from.as_deref().map(|path| base_session(path, context.terminal)).transpose()?;
    let maker = match &given {
        Some(given) => Maker { seed: args.seed, source: Source::Given(&given.draft), origin: &given.origin },
        None => Maker::new(args.seed),
    };
    // A signal is noted, so that the case that is being written is written to its end.
    watch()?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("cases"));
    let mut tally = Tally::default();
    if let Some(name) = &args.as_case {
        let cases = maker.cases(args.first, Some(name), &mut tally);
        if cases.is_empty() {
            return Err(format!("there is no variant with the number {}", args.first).into());
        }
        write_all(&out, &cases, args.force)?;
        for (name, _) in &cases {
            context.terminal.note(&format!("wrote {}", out.join(name).display()));
        }
        return Ok(exit::WELL);
    }
    if !args.force && fs::read_dir(&out).is_ok_and(|mut entries| entries.next().is_some()) {
        let why = "is not empty; name another folder, or overwrite it with --force";
        return Err(format!("{} {why}", out.display()).into());
    }
    for number in args.first..args.first.saturating_add(args.count) {
        write_all(&out, &maker.cases(number, None, &mut tally), args.force)?;
        if let Some(code) = interrupt::code() {
            context.terminal.error(&format!("interrupted; wrote {} to {}", tally.in_words(), out.display()));
            return Ok(code);
        }
    }
    if tally.variants == 0 {
        return Err("nothing in this session can be changed, so nothing was written".into());
    }
    context.terminal.note(&format!("wrote {} to {}", tally.in_words(), out.display()));
    for line in tally.left_out() {
        context.terminal.note(&line);
    }
    Ok(exit::WELL)
}

/// Writes a variant and its counterpart, or nothing of them: a folder with half a case cannot be run.
fn write_all(out: &Path, cases: &[GeneratedCase], force: bool) -> Result<(), Failure> {
    for (at, (name, files)) in cases.iter().enumerate() {
        if let Err(why) = write(&out.join(name), files, force) {
            cases[..at].iter().for_each(|(name, files)| remove(&out.join(name), files));
            return Err(why);
        }
    }
    Ok(())
}

/// Removes what there is of a case directory that was written.
fn remove(folder: &Path, files: &[(String, Vec<u8>)]) {
    files.iter().for_each(|(name, _)| drop(fs::remove_file(folder.join(name))));
    let _ = fs::remove_dir(folder);
}

/// Writes one case directory. Whatever a case of this name held is gone afterwards, and nothing else.
fn write(folder: &Path, files: &[(String, Vec<u8>)], force: bool) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::unwritable(folder, &error);
    if folder.exists() {
        if !force {
            let why = "exists already; name another case, or overwrite it with --force";
            return Err(format!("{} {why}", folder.display()).into());
        }
        if !folder.join("case.toml").is_file() {
            let why = "is not a case directory, so it is not overwritten";
            return Err(format!("{} {why}", folder.display()).into());
        }
        for entry in fs::read_dir(folder).map_err(failed)? {
            fs::remove_file(entry.map_err(failed)?.path()).map_err(failed)?;
        }
    }
    let put = |(name, bytes): &(String, Vec<u8>)| {
        replace_in_folder(&folder.join(name), Access::Usual, |out| out.write_all(bytes))
    };
    files.iter().try_for_each(put).map_err(|error| {
        remove(folder, files);
        failed(error)
    })
}

#[cfg(test)]
mod tests {
    use super::{Maker, Source, Tally, base_session};
    use crate::terminal::Terminal;
    use mcp_concord_suite::{Root, Suite};
    use std::path::Path;
    use verdict::expectation::Expectation;

    #[test]
    fn every_case_that_has_a_meaning_has_variants() {
        let suite = Suite::load(&[Root::Embedded]).unwrap();
        let mut made = Vec::new();
        for (number, case) in (0..).zip(&suite.cases) {
            if matches!(case.expectation, Expectation::Meaning(_)) && !case.name.starts_with("survival") {
                let given = base_session(Path::new(&case.name), Terminal::default())
                    .unwrap_or_else(|failure| panic!("{}: {failure:?}", case.name));
                let maker = Maker { seed: 5, source: Source::Given(&given.draft), origin: &given.origin };
                made.extend(maker.cases(number, None, &mut Tally::default()));
            }
        }
        assert!(made.len() > 200, "{}", made.len());
        Suite::load(&[Root::Generated(made)]).unwrap();
    }
}
