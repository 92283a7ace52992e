//! `generate`: variants whose meaning is known, as case directories.
//!
//! Knows: which variants are wanted, and counts them. Refuses to know: what any mutator does; the same seed, number and
//! version write the same bytes on every machine.

pub(crate) mod folder;
pub(super) mod given;

use super::{Around, Failure};
use crate::exit;
use folder::{About, files, write};
use generators::relation::Relation;
use generators::seeded::{Source, valid_counterpart, variant};
use generators::variant::Variant;
use given::{Given, given};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use suite::GeneratedCase;

/// Writes variants of sessions as case directories, each with what must come of reading it.
///
/// The sessions are made from the seed, or --from names one that was recorded. A variant that must be rejected stands beside
/// its twin, the same session without the fault.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord generate --count 100 --out variants && mcp-concord run --cases variants
  mcp-concord generate --seed 7 --first 41 --count 1 --out one     the variant with that number alone
  mcp-concord generate --from session.har --out variants           variants of a recorded session
  mcp-concord generate --from cases/ids/zero --out variants        variants of a case
  mcp-concord generate --seed 7 --first 41 --materialise found/41  that variant, as a case under cases/

Exit code 0: written; 2: the call or its input cannot be used, or the folder cannot be written.")]
pub(crate) struct Args {
    /// A transcript or a case directory whose session is changed, or the name of a case of the suite.
    #[arg(long, value_name = "FILE|CASE")]
    from: Option<PathBuf>,
    /// Where the choices begin: a number.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The number of the first variant.
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u64,
    /// How many variants.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    count: u64,
    /// The folder that gets the cases.
    #[arg(long, value_name = "DIR", required_unless_present = "materialise")]
    out: Option<PathBuf>,
    /// Write the first variant alone, as the case of this name; the folder is `cases` unless --out names another.
    #[arg(long, value_name = "NAME", value_parser = case_name, conflicts_with = "count")]
    materialise: Option<String>,
    /// Write into a folder that is not empty, over cases of the same names.
    #[arg(long)]
    force: bool,
}

/// Runs the command.
///
/// # Errors
/// Where the source cannot be changed or the folder cannot be written.
pub(crate) fn run(args: &Args, around: Around) -> Result<u8, Failure> {
    let given = args.from.as_deref().map(given).transpose()?;
    let maker = Maker { seed: args.seed, given: given.as_ref() };
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("cases"));
    let mut tally = Tally::default();
    if let Some(name) = &args.materialise {
        let cases = maker.cases(args.first, Some(name), &mut tally);
        if cases.is_empty() {
            return Err(Failure::Unusable(format!("there is no variant with the number {}", args.first)));
        }
        for (name, files) in &cases {
            write(&out.join(name), files, args.force)?;
            around.voice.note(&format!("wrote {}", out.join(name).display()));
        }
        return Ok(exit::WELL);
    }
    if !args.force && fs::read_dir(&out).is_ok_and(|mut entries| entries.next().is_some()) {
        let why = "is not empty; name another folder, or write over it with --force";
        return Err(Failure::Unusable(format!("{} {why}", out.display())));
    }
    for number in args.first..args.first.saturating_add(args.count) {
        for (name, files) in maker.cases(number, None, &mut tally) {
            write(&out.join(name), &files, args.force)?;
        }
    }
    if tally.variants == 0 {
        return Err(Failure::Unusable(
            "nothing of this session can be changed, so nothing was written".to_owned(),
        ));
    }
    around.voice.note(&format!("wrote {} to {}", tally.in_words(), out.display()));
    for line in tally.left_out() {
        around.voice.note(&line);
    }
    Ok(exit::WELL)
}

/// The cases of `count` variants of a seed, by name, each with its files: what `run --generate` runs.
#[must_use]
pub(crate) fn suite(seed: u64, count: u64) -> Vec<GeneratedCase> {
    let maker = Maker { seed, given: None };
    (0..count).flat_map(|number| maker.cases(number, None, &mut Tally::default())).collect()
}

/// A case's name in lower case, which leads nowhere but down.
pub(super) fn case_name(text: &str) -> Result<String, String> {
    let plain = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    match text.split('/').all(plain) {
        true => Ok(text.to_owned()),
        false => Err("a case is named in lower case, such as found/late-answer".to_owned()),
    }
}

/// Makes cases of variants.
struct Maker<'g> {
    seed: u64,
    given: Option<&'g Given>,
}

impl Maker<'_> {
    /// The case of one variant, with its twin where it must be rejected. Nothing where no variant has this number.
    fn cases(&self, number: u64, name: Option<&str>, tally: &mut Tally) -> Vec<GeneratedCase> {
        let source = self.given.map_or(Source::Made, |given| Source::Given(&given.draft));
        let Some(variant) = variant(self.seed, number, source) else {
            tally.none += 1;
            return Vec::new();
        };
        let name = name.map_or_else(|| format!("variant-{number:06}"), str::to_owned);
        let twin_name = format!("{name}-twin");
        let twin = valid_counterpart(self.seed, number, source);
        if matches!(variant.relation, Relation::Rejects(_)) && twin.is_none() {
            tally.none += 1;
            return Vec::new();
        }
        tally.add(&variant);
        let source = match self.given {
            Some(given) => &given.origin,
            None => "of a session whose meaning is known by construction",
        };
        let about = |twin| About { seed: self.seed, number, source, twin };
        let mut cases = vec![(name, files(&variant, &about(Some(&twin_name))))];
        if let Some(twin) = twin {
            tally.twins += 1;
            let files = files(&twin, &about(None));
            cases.push((twin_name, files));
        }
        cases
    }
}

/// What was written, counted.
#[derive(Default)]
struct Tally {
    variants: u64,
    twins: u64,
    none: u64,
    relations: BTreeMap<&'static str, u64>,
    /// By format and by why it cannot carry a variant.
    left_out: BTreeMap<(&'static str, String), u64>,
}

impl Tally {
    fn add(&mut self, variant: &Variant) {
        self.variants += 1;
        *self.relations.entry(variant.relation.name()).or_default() += 1;
        for (format, file) in &variant.files {
            if let Err(why) = file {
                // Which mutator it was stands in the case; here one count is enough.
                let clause =
                    if why.contains(' ') { "nothing to change there".to_owned() } else { why.clone() };
                *self.left_out.entry((format.name, clause)).or_default() += 1;
            }
        }
    }

    fn in_words(&self) -> String {
        let noun = if self.variants == 1 { "variant" } else { "variants" };
        let relations: Vec<_> =
            self.relations.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let twins = if self.twins == 0 { String::new() } else { format!(" and {} twins", self.twins) };
        format!("{} {noun}{twins} ({})", self.variants, relations.join(", "))
    }

    fn left_out(&self) -> Vec<String> {
        let mut lines: Vec<_> = self
            .left_out
            .iter()
            .map(|((format, why), count)| format!("{format} does not carry {count} of them: {why}"))
            .collect();
        if self.none > 0 {
            lines
                .push(format!("{} numbers made no variant: the session has too little to change", self.none));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::{Args, Maker, Tally, case_name, given, run, suite};
    use crate::command::{Around, Failure};
    use crate::terminal::{Voice, Volume};
    use clap::Parser;
    use std::path::Path;
    use suite::{Root, Suite};
    use verdict::expectation::Expectation;

    #[derive(Debug, Parser)]
    struct Call {
        #[command(flatten)]
        args: Args,
    }

    fn call(words: &[&str]) -> Result<u8, String> {
        let call =
            Call::try_parse_from([&["generate"], words].concat()).map_err(|error| error.to_string())?;
        let voice = Voice { volume: Volume::Quiet, colour_out: false, colour_err: false };
        run(&call.args, Around { voice }).map_err(|failure| match failure {
            Failure::Unusable(why) => why,
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn what_is_made_is_a_suite_and_the_same_every_time() {
        let made = suite(7, 120);
        assert!(made == suite(7, 120) && made != suite(8, 120));
        let suite = Suite::load(&[Root::Generated(made)]).unwrap();
        assert!(suite.cases.len() >= 120);
        let count = |which: fn(&Expectation) -> bool| {
            suite.cases.iter().filter(|case| which(&case.expectation)).count()
        };
        assert!(count(|it| matches!(it, Expectation::Meaning(_))) > 40);
        assert!(count(|it| matches!(it, Expectation::Either(_))) > 10);
        assert!(count(|it| matches!(it, Expectation::Rejection(_))) > 10);
    }

    #[test]
    fn folders_are_written_byte_for_byte_and_never_over_what_stands_there() {
        let folder = tempfile::tempdir().unwrap();
        let out = |name: &str| folder.path().join(name).display().to_string();
        for name in ["a", "b"] {
            assert_eq!(call(&["--count", "20", "--seed", "3", "--out", &out(name)]), Ok(0));
        }
        let load = |name: &str| Suite::load(&[Root::Disk(folder.path().join(name))]).unwrap();
        assert_eq!(load("a").digest().unwrap(), load("b").digest().unwrap());
        let refused = call(&["--count", "20", "--out", &out("a")]).unwrap_err();
        assert!(refused.contains("not empty") && refused.contains("--force"), "{refused}");
        assert_eq!(call(&["--count", "20", "--seed", "3", "--force", "--out", &out("a")]), Ok(0));
        assert_eq!(load("a").digest().unwrap(), load("b").digest().unwrap());

        assert_eq!(
            call(&["--seed", "3", "--first", "4", "--materialise", "found/four", "--out", &out("c")]),
            Ok(0)
        );
        assert!(load("c").cases.iter().any(|case| case.name == "found/four"));
        let again = call(&["--seed", "3", "--first", "4", "--materialise", "found/four", "--out", &out("c")]);
        assert!(again.unwrap_err().contains("is there already"));
        std::fs::write(folder.path().join("file"), "").unwrap();
        assert!(call(&["--out", &out("file/under")]).unwrap_err().contains("cannot be written"));
    }

    #[test]
    fn a_call_that_makes_no_sense_is_told_why() {
        assert!(call(&["--seed", "seven", "--out", "x"]).unwrap_err().contains("invalid digit"));
        assert!(call(&["--count", "0", "--out", "x"]).is_err());
        assert!(call(&[]).unwrap_err().contains("--out"));
        assert!(case_name("../x").is_err() && case_name("a//b").is_err() && case_name("found/a-1").is_ok());
        let missing = call(&["--from", "no-such-file", "--out", "x"]).unwrap_err();
        assert!(missing.contains("no-such-file"), "{missing}");
        let rejection = Suite::load(&[Root::Embedded]).unwrap();
        let rejection =
            rejection.cases.iter().find(|case| matches!(case.expectation, Expectation::Rejection(_)));
        let why = call(&["--from", &rejection.unwrap().name, "--out", "x"]).unwrap_err();
        assert!(why.contains("expects no meaning"), "{why}");
    }

    #[test]
    fn every_case_that_has_a_meaning_has_variants() {
        let suite = Suite::load(&[Root::Embedded]).unwrap();
        let mut made = Vec::new();
        for (number, case) in (0..).zip(&suite.cases) {
            if matches!(case.expectation, Expectation::Meaning(_)) && !case.name.starts_with("survival") {
                let given = given(Path::new(&case.name))
                    .unwrap_or_else(|failure| panic!("{}: {failure:?}", case.name));
                let maker = Maker { seed: 5, given: Some(&given) };
                made.extend(maker.cases(number, None, &mut Tally::default()));
            }
        }
        assert!(made.len() > 200, "{}", made.len());
        Suite::load(&[Root::Generated(made)]).unwrap();
    }
}
