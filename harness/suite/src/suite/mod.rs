//! The suite: case directories, found and checked before anything is run.
//!
//! What makes a suite unusable; every problem is listed, not only the first. Nothing registers a case: it is found by walking, and
//! its path is its name.

mod case;
mod folder;
mod problem;

pub use case::{Case, Transcript, Uncarried};
pub use folder::{Blob, GeneratedCase, Root};
pub use problem::Problem;

use folder::Folder;
use formats::{FORMATS, Format};
use hmac_sha256::Hash as Sha256;
use std::collections::{BTreeMap, BTreeSet};
use std::{fmt, io};
use transcript::dialect::Dialect;
use transcript::nearest::hint;
use verdict::expectation::Expectation;

/// The cases, ordered by name.
#[derive(Debug)]
pub struct Suite {
    /// Those that importers are asked about.
    pub cases: Vec<Case>,
    /// Those that `check` is tried on.
    pub judged: Vec<Case>,
    /// Those of which importers are asked what `identify` answers.
    pub identified: Vec<Case>,
}

impl Suite {
    /// How its cases stand in the paired formats.
    #[must_use]
    pub fn pairing(&self) -> Pairing<'_> {
        Pairing::count(&self.cases)
    }

    /// Finds and checks every case of `roots` together.
    ///
    /// # Errors
    /// Every problem of the suite, ordered by place.
    pub fn load(roots: &[Root]) -> Result<Self, Vec<Problem>> {
        let (mut problems, mut cases) = (Vec::new(), Vec::new());
        for root in roots {
            let before = problems.len();
            let folders = root.folders(&mut problems);
            if folders.is_empty() && problems.len() == before {
                let message = "no folder in it has a case.toml, so it holds no case (`fuzz` saves none when it finds nothing)";
                problems.push(Problem::new(root.to_string(), message));
            }
            for folder in folders {
                match Case::check(folder) {
                    Ok(case) => cases.push(case),
                    Err(found) => problems.extend(found),
                }
            }
        }
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        twice(&cases, "name", |case| &case.name, &mut problems);
        let (judged, cases): (Vec<_>, Vec<_>) =
            cases.into_iter().partition(|case: &Case| case.judgement.is_some());
        let (identified, cases): (Vec<_>, Vec<_>) =
            cases.into_iter().partition(|case: &Case| case.identified.is_some());
        for cases in [&cases, &judged, &identified] {
            twice(cases, "title", |case| &case.title, &mut problems);
        }
        if problems.is_empty() {
            twins(&cases, &mut problems);
        }
        if problems.is_empty() {
            return Ok(Self { cases, judged, identified });
        }
        problems.sort();
        problems.dedup();
        Err(problems)
    }

    /// The cases that importers are asked about, in whichever way, ordered by name.
    pub fn asked(&self) -> impl Iterator<Item = &Case> {
        let mut asked: Vec<&Case> = self.cases.iter().chain(&self.identified).collect();
        asked.sort_by(|a, b| a.name.cmp(&b.name));
        asked.into_iter()
    }

    /// The suite as it is meant in a dialect.
    #[must_use]
    pub fn in_dialect(mut self, dialect: &Dialect) -> Self {
        self.cases = self.cases.into_iter().map(|case| case.in_dialect(dialect)).collect();
        self
    }

    /// The one case of this name, found by its path: none where there is no such case.
    ///
    /// # Errors
    /// Every problem of the case.
    pub fn load_one(root: &Root, name: &str) -> Result<Option<Case>, Vec<Problem>> {
        let mut problems = Vec::new();
        let Some(folder) = Folder::find(root, name, &mut problems) else {
            return if problems.is_empty() { Ok(None) } else { Err(problems) };
        };
        let case = Case::check(folder);
        match (case, problems.is_empty()) {
            (Ok(case), true) => Ok(Some(case).filter(|case| case.judgement.is_none())),
            (Ok(_), false) => Err(problems),
            (Err(found), _) => Err([problems, found].concat()),
        }
    }

    /// A digest over every byte of every case, whatever order they were found in.
    ///
    /// # Errors
    /// Where a file cannot be read again.
    pub fn digest(&self) -> io::Result<String> {
        let mut digests: Vec<[u8; 32]> = Vec::new();
        for case in self.asked().chain(&self.judged) {
            digests.push(case.digest()?);
        }
        digests.sort_unstable();
        let digest = Sha256::hash(&digests.concat());
        let hex: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(format!("sha256:{}", hex.concat()))
    }
}

/// A rejection's twin is a case of the suite that expects a meaning. Asked only where every case could be loaded.
fn twins(cases: &[Case], problems: &mut Vec<Problem>) {
    let read = |case: &&Case| matches!(case.expectation, Expectation::Meaning(_));
    let known: BTreeSet<&str> = cases.iter().filter(read).map(|case| case.name.as_str()).collect();
    for (case, twin) in cases.iter().filter_map(|case| Some((case, case.twin.as_deref()?))) {
        if !known.contains(twin) {
            let hint = hint(twin, known.iter().copied());
            let message = format!("the twin \"{twin}\" is not a case that expects a meaning{hint}");
            problems.push(Problem::new(format!("{}/case.toml", case.place), message));
        }
    }
}

/// Names and titles stand for one case each.
fn twice(cases: &[Case], what: &str, of: impl Fn(&Case) -> &String, problems: &mut Vec<Problem>) {
    let mut seen: BTreeMap<&str, &Case> = BTreeMap::new();
    for case in cases {
        if let Some(first) = seen.insert(of(case), case) {
            let message = format!("the {what} \"{}\" is taken by {}", of(case), first.place);
            problems.push(Problem::new(format!("{}/case.toml", case.place), message));
        }
    }
}

/// How the cases of a suite stand in the paired formats.
#[derive(Debug, Default)]
pub struct Pairing<'s> {
    /// How many cases are spelled in all of them.
    pub everywhere: usize,
    /// How many say why they are not.
    pub explained: usize,
    /// The others, each with the formats that are missing.
    pub silent: Vec<(&'s str, Vec<&'static str>)>,
}

/// The formats that every case is spelled in, or says why it cannot be.
pub fn paired() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().copied().filter(|format| format.paired)
}

impl<'s> Pairing<'s> {
    /// Counts the cases.
    pub(super) fn count(cases: &'s [Case]) -> Self {
        let mut pairing = Self::default();
        for case in cases {
            let missing =
                || paired().filter(|format| !case.transcripts.iter().any(|it| it.format.name == format.name));
            let silent: Vec<_> = missing().filter(|it| !is_explained(case, it)).map(|it| it.name).collect();
            match () {
                () if !silent.is_empty() => pairing.silent.push((&case.name, silent)),
                () if missing().next().is_some() => pairing.explained += 1,
                () => pairing.everywhere += 1,
            }
        }
        pairing
    }
}

impl fmt::Display for Pairing<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let formats: Vec<_> = paired().map(|format| format.name).collect();
        let (everywhere, explained, silent) = (self.everywhere, self.explained, self.silent.len());
        let cases = everywhere + explained + silent;
        write!(out, "cases that lack one of {} without a reason: {silent} of {cases}", formats.join(", "))?;
        out.write_str(" (--paired names them)")
    }
}

/// The clauses of a case that speak only of formats that it is not spelled in. Those of small recorders have no clauses of their own,
/// and borrow.
pub fn foreign_clauses(case: &Case) -> impl Iterator<Item = &str> {
    let here = |clause: &str| {
        case.transcripts.iter().any(|it| it.format.clauses.is_empty() || speaks(it.format, clause))
    };
    case.clauses
        .iter()
        .map(String::as_str)
        .filter(move |clause| FORMATS.iter().any(|format| speaks(format, clause)) && !here(clause))
}

fn speaks(format: &Format, clause: &str) -> bool {
    format.clauses.iter().any(|family| clause.starts_with(family))
}

/// Whether the case says why this format is missing: in a table of its own, for all others at once, or by clauses each of which
/// speaks only of other formats.
fn is_explained(case: &Case, format: &Format) -> bool {
    let elsewhere =
        |clause: &String| !speaks(format, clause) && FORMATS.iter().any(|other| speaks(other, clause));
    case.only.is_some()
        || case.uncarried.iter().any(|it| it.format.name == format.name)
        || case.clauses.iter().all(elsewhere)
}

#[cfg(test)]
mod tests {
    use super::{Root, Suite, foreign_clauses, paired};
    use crate::testing::SUITE;
    use std::fs;
    use std::path::{Path, PathBuf};

    fn repository() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases")
    }

    #[test]
    fn the_embedded_suite_is_the_one_in_the_repository() {
        let disk = Suite::load(&[Root::Disk(repository())]).unwrap();
        let names = |suite: &Suite| suite.asked().map(|case| case.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&SUITE), names(&disk));
        assert_eq!(SUITE.digest().unwrap(), disk.digest().unwrap());
        // The parts of a run are put together in this order, so that they are the run.
        assert!(names(&disk).is_sorted() && names(&disk).len() == disk.cases.len() + disk.identified.len());
    }

    #[test]
    fn a_case_is_found_by_its_name_only() {
        for root in [Root::Disk(repository()), Root::Embedded] {
            for case in SUITE.asked().step_by(10).chain(&SUITE.identified) {
                let found = Suite::load_one(&root, &case.name).unwrap().unwrap();
                let transcripts = (found.transcripts.len(), case.transcripts.len());
                assert_eq!((&found.title, transcripts.0), (&case.title, transcripts.1));
            }
            for name in ["", "ids", "ids/not-there", "../cases/ids/zero", "src"] {
                assert!(Suite::load_one(&root, name).unwrap().is_none(), "{name}");
            }
        }
    }

    #[test]
    fn an_archive_holds_cases_and_says_where_it_does_not() {
        let suite = tempfile::tempdir().unwrap();
        let archive = suite.path().join("topic/some.txtar");
        fs::create_dir(suite.path().join("topic")).unwrap();
        let file = |file: &str| fs::read_to_string(repository().join("ids/zero").join(file)).unwrap();
        let [case, lines, meaning] = ["case.toml", "jsonrpc.jsonl", "meaning.json"].map(file);
        let whole =
            format!("-- a/case.toml --\n{case}-- a/jsonrpc.jsonl --\n{lines}-- a/meaning.json --\n{meaning}");
        fs::write(&archive, &whole).unwrap();
        let loaded = Suite::load(&[Root::Disk(suite.path().to_owned())]).unwrap();
        assert_eq!(loaded.cases[0].name, "topic/a");
        assert_eq!(loaded.cases[0].place, format!("{}/a", archive.display()));
        for (text, part) in [
            (whole.replace("a/case.toml", "a/case"), "topic/a has no case.toml"),
            (format!("{whole}-- a/case.toml --\n{case}"), "topic/a has two files of one name"),
            (format!("\n-- zero --\n{whole}"), "some.txtar:2: names no file of a case"),
            (whole.replace("-- a/", "-- a::b/"), "topic/a::b has `::`"),
            (whole.replace("title", "tittle"), "some.txtar/a/case.toml"),
        ] {
            fs::write(&archive, text).unwrap();
            let problems = Suite::load(&[Root::Disk(suite.path().to_owned())]).unwrap_err();
            assert!(problems[0].to_string().contains(part), "{problems:?}");
        }
    }

    #[test]
    fn a_suite_may_be_one_case_and_hold_what_tools_leave_behind() {
        let suite = tempfile::tempdir().unwrap();
        let case = suite.path().join("found-17");
        let leftovers = ["found-17/../node_modules/a", "found-17/../.git/b", "found-17/../build/c"];
        for folder in ["found-17"].iter().chain(&leftovers) {
            fs::create_dir_all(suite.path().join(folder)).unwrap();
        }
        fs::write(suite.path().join("build/CACHEDIR.TAG"), "").unwrap();
        for file in ["case.toml", "jsonrpc.jsonl", "meaning.json"] {
            fs::copy(repository().join("ids/zero").join(file), case.join(file)).unwrap();
            for folder in leftovers {
                fs::copy(repository().join("ids/zero").join(file), suite.path().join(folder).join(file))
                    .unwrap();
            }
        }
        for root in [suite.path(), &case] {
            let suite = Suite::load(&[Root::Disk(root.to_owned())]).unwrap();
            let names: Vec<_> = suite.cases.iter().map(|case| case.name.as_str()).collect();
            assert_eq!(names, ["found-17"], "{}", root.display());
        }
    }

    #[test]
    fn no_case_cites_a_clause_that_it_cannot_show() {
        let foreign = |case| foreign_clauses(case).map(move |clause| (&case.name, clause));
        let all: Vec<_> = SUITE.cases.iter().flat_map(foreign).collect();
        assert!(all.is_empty(), "{all:?}");
    }

    #[test]
    fn every_case_is_in_the_paired_formats_or_says_why_not() {
        let pairing = SUITE.pairing();
        assert!(
            pairing.silent.is_empty(),
            "add the transcript, [formats.<name>] or `only`: {:#?}",
            pairing.silent
        );
        assert_eq!(pairing.everywhere + pairing.explained, SUITE.cases.len());
        assert!(pairing.everywhere > 200 && paired().count() == 4, "{}", pairing.everywhere);
    }
}
