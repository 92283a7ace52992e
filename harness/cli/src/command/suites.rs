//! The suite that a command's options name: loaded, and checked against the rules that there are.

use super::context::{CommandContext, Failure};
use super::values::{quoted, whole, within};
use super::variants;
use mcp_concord_suite::{Case, Problem, Root, Suite, foreign_clauses};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use transcript::nearest::hint;
use verdict::plain::counted;
use verdict::record;

/// The options that name a suite.
#[derive(Debug, clap::Args)]
pub(super) struct SuiteArgs {
    /// Use this folder of case directories instead of the built-in suite. Repeatable.
    #[arg(long, value_name = "DIR")]
    cases: Vec<PathBuf>,
    /// Use this many generated sessions instead of the suite.
    #[arg(long, value_name = "N", conflicts_with = "cases", value_parser = within::<1, { u64::MAX }>)]
    pub(super) generate: Option<u64>,
    /// The seed of the random choices.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "generate", value_parser = whole::<u64>)]
    seed: u64,
}

impl SuiteArgs {
    /// Loads the suite.
    pub(super) fn load(&self, context: CommandContext) -> Result<Suite, Failure> {
        let roots: Vec<Root> = match (self.generate, self.cases.as_slice()) {
            (Some(count), _) => vec![Root::Generated(variants::suite(self.seed, count))],
            (None, []) => vec![Root::Embedded],
            (None, cases) => cases.iter().cloned().map(Root::Disk).collect(),
        };
        let suite = load(&roots).map_err(|problems| {
            context.terminal.errors(problems.iter().map(ToString::to_string));
            Failure::Unusable(format!("the suite cannot be used: {}", counted(problems.len(), "problem")))
        })?;
        // A variant cites what was changed, also where the format that shows it cannot carry the session.
        for case in suite.cases.iter().filter(|case| !case.title.starts_with("Variant ")) {
            for clause in foreign_clauses(case) {
                let place = case.place.as_str();
                context.terminal.note(&format!(
                    "{place}/case.toml: {clause} applies to none of the formats that the case has"
                ));
            }
        }
        Ok(suite)
    }

    /// The suite as a record names it.
    pub(super) fn named(&self, suite: &Suite) -> io::Result<record::Suite> {
        Ok(record::Suite { seed: self.generate.map(|_| self.seed), ..named(suite)? })
    }

    /// The options again, and a filter for only `what`, for a command line that a person can paste.
    pub(super) fn options(&self, what: Option<&str>) -> String {
        let mut out = String::new();
        if let Some(count) = self.generate {
            let _ = write!(out, " --generate {count} --seed {}", self.seed);
        }
        for cases in &self.cases {
            let _ = write!(out, " --cases {}", quoted(&cases.display().to_string()));
        }
        if let Some(what) = what {
            let _ = write!(out, " --filter {}", quoted(&globset::escape(what)));
        }
        out
    }
}

/// A suite as records name it.
pub(super) fn named(suite: &Suite) -> io::Result<record::Suite> {
    Ok(record::Suite::new(env!("CARGO_PKG_VERSION"), &suite.digest()?))
}

/// Loads a suite whose cases name only rules that exist.
pub(super) fn load(roots: &[Root]) -> Result<Suite, Vec<Problem>> {
    let suite = Suite::load(roots)?;
    let problems: Vec<Problem> = suite.cases.iter().chain(&suite.judged).flat_map(unknown_rules).collect();
    if problems.is_empty() { Ok(suite) } else { Err(problems) }
}

/// The suite that comes with the program.
pub(super) fn embedded() -> Result<Suite, Failure> {
    load(&[Root::Embedded]).map_err(|_| Failure::Unusable("the built-in suite cannot be used".to_owned()))
}

/// The case that a word of the command line names: the one in a folder, or that of the built-in suite; none where it is a file.
pub(super) fn named_case(path: &Path) -> Result<Option<Case>, Failure> {
    if path.exists() && !path.is_dir() || path.as_os_str() == "-" {
        return Ok(None);
    }
    let name = path.display();
    if !path.is_dir() {
        return Ok(Suite::load_one(&Root::Embedded, &name.to_string()).ok().flatten());
    }
    let suite = load(&[Root::Disk(path.to_owned())]).map_err(|problems| {
        let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
        Failure::Unusable(format!("{name} is not a case directory: {}", problems.join("; ")))
    })?;
    match <[Case; 1]>::try_from(suite.cases) {
        Ok([case]) => Ok(Some(case)),
        Err(cases) => Err(format!("{name} holds {} cases; name one of them", cases.len()).into()),
    }
}

/// The rule ids of a case that no rule has, each as a problem with its nearest neighbours.
fn unknown_rules(case: &Case) -> Vec<Problem> {
    let judgement = case.judgement.iter().flat_map(|it| it.breaks.iter().chain(&it.keeps).chain(&it.unsure));
    // The ids of clauses have no dot, those of rules have.
    let named = case.clauses.iter().filter(|id| id.contains('.')).chain(judgement);
    let mut unknown: Vec<&String> = named.filter(|id| rules::find(id).is_none()).collect();
    unknown.sort();
    unknown.dedup();
    if unknown.is_empty() {
        return Vec::new();
    }
    let file = Path::new(&case.place).join("case.toml");
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let problem = |id: &String| Problem {
        place: file.display().to_string(),
        line: text.lines().position(|line| line.contains(&format!("\"{id}\""))).map(|line| line + 1),
        message: format!("there is no rule `{id}`{}", hint(id, rules::all().map(|rule| rule.id))),
    };
    unknown.into_iter().map(problem).collect()
}
