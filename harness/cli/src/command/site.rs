//! A site of results: its pages, how they link to each other, and the files for programs beside them. The crate `reports`
//! renders; nothing is judged again.

use super::context::Failure;
use super::own_page::OwnPage;
use super::suites::embedded;
use super::values::quoted;
use hmac_sha256::Hash as Sha256;
use mcp_concord_suite::Case;
use reports::html::changes::Changes;
use reports::html::findings::Finding;
use reports::html::reference::{Case as Named, RuleCases};
use reports::html::{HtmlRenderer, Link, Overview, PageLocation, Run};
use reports::official::OfficialRun;
use reports::run::{badge, json, junit, markdown};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;
use std::path::Path;
use verdict::case_file::Judgement;
use verdict::change::Change;
use verdict::record::{CaseResult, Implementation, Record};
use verdict::timings::Times;
use wire::files::{Access, replace_in_folder};
use wire::interrupt;

/// How long the readings took, beside the record of a folder.
pub(super) const TIMES: &str = "times.json";

/// What a site is made of.
pub(super) struct Site<'s> {
    /// The last run of each implementation.
    pub(super) records: Vec<&'s Record>,
    /// All runs, in the order in which they were given.
    pub(super) runs: Vec<&'s Record>,
    /// The run that was compared with, the one that was, and what changed.
    pub(super) compared: Option<(&'s Record, &'s Record, &'s [Change])>,
    pub(super) findings: Option<&'s [Finding]>,
    /// A run of the official suite, in place of records.
    pub(super) official: Option<&'s OfficialRun>,
    /// Pages that somebody else made.
    pub(super) own: &'s [OwnPage],
    /// results.json is written in its compact form.
    pub(super) compact: bool,
}

/// Writes the page of one implementation, which needs no other file, and what programs read.
pub(super) fn write_one(
    folder: &Path,
    record: &Record,
    rerun: &dyn Fn(&Record, &CaseResult) -> String,
) -> Result<(), Failure> {
    let run = Run { record, runs: &[record], rerun };
    put(folder, "index.html", &renderer()?.run(&run, PageLocation::default()).map_err(unrendered)?)?;
    for_programs(folder, record, false)
}

impl Site<'_> {
    pub(super) fn write(&self, out: &Path) -> Result<(), Failure> {
        let renderer = renderer()?;
        let folders = folders(&self.records);
        let pages = self.pages(&folders)?;
        let place = |here| PageLocation { pages: &pages, here, root: "" };
        let page = |name: &'static str, text: Result<String, _>| {
            put(out, name, &text.map_err(unrendered)?)?;
            not_interrupted()
        };
        match self.records.as_slice() {
            [record] => {
                page(
                    "index.html",
                    renderer.run(&self.run(record, &self.history(record)), place("index.html")),
                )?;
                for_programs(out, record, self.compact)?;
            }
            [] if let Some(run) = self.official => {
                page("index.html", renderer.official(run, place("index.html")))?;
            }
            records => {
                let runs = self.trends();
                let overview = Overview { records, folders: &folders, runs: &runs };
                page("index.html", renderer.overview(&overview, place("index.html")))?;
                for (record, folder) in records.iter().zip(&folders) {
                    let here = format!("{folder}/index.html");
                    let place = PageLocation { pages: &pages, here: &here, root: "../" };
                    let text = renderer.run(&self.run(record, &self.history(record)), place);
                    let folder = out.join(folder);
                    put(&folder, "index.html", &text.map_err(unrendered)?)?;
                    for_programs(&folder, record, self.compact)?;
                    not_interrupted()?;
                }
            }
        }
        if let Some((old, new, changes)) = self.compared {
            let at = self.records.iter().position(|record| std::ptr::eq(*record, new));
            let of_it = match at.and_then(|at| folders.get(at)) {
                Some(folder) if folders.len() > 1 => format!("{folder}/index.html"),
                _ => "index.html".to_owned(),
            };
            let changes = Changes { old, new, changes, page: &of_it };
            page("changes.html", renderer.changes(&changes, place("changes.html")))?;
        }
        if let Some(findings) = self.findings {
            page("findings.html", renderer.findings(findings, place("findings.html")))?;
        }
        for own in self.own {
            put(out, &own.name, &own.text)?;
            not_interrupted()?;
        }
        let suite = embedded()?;
        let clauses = self.clauses(&suite.cases);
        page("clauses.html", renderer.clauses(&clauses, !self.records.is_empty(), place("clauses.html")))?;
        page("rules.html", renderer.rules(&shown(&suite.judged), place("rules.html")))?;
        page("formats.html", renderer.formats(&carried(&suite.cases), place("formats.html")))
    }

    fn run<'r>(&'r self, record: &'r Record, runs: &'r [&'r Record]) -> Run<'r> {
        Run { record, runs, rerun: &rerun }
    }

    /// The runs of the same implementation in the same dialect, in whatever version, up to this one.
    fn history(&self, record: &Record) -> Vec<&Record> {
        let of_it = |run: &&Record| run.implementation.is_of(&record.implementation);
        let mut runs: Vec<&Record> = self.runs.iter().copied().filter(of_it).collect();
        if let Some(at) = runs.iter().position(|run| std::ptr::eq(*run, record)) {
            runs.truncate(at + 1);
        }
        runs
    }

    /// All runs by implementation and dialect, whatever its version.
    fn trends(&self) -> Vec<Vec<&Record>> {
        let mut trends: Vec<Vec<&Record>> = Vec::new();
        for &run in &self.runs {
            let same = |runs: &&mut Vec<&Record>| {
                runs.first().is_some_and(|first| first.implementation.is_of(&run.implementation))
            };
            match trends.iter_mut().find(same) {
                Some(runs) => runs.push(run),
                None => trends.push(vec![run]),
            }
        }
        trends
    }

    fn pages(&self, folders: &[String]) -> Result<Vec<Link>, Failure> {
        let first = match (self.official, self.records.len()) {
            (Some(_), _) => "Official suite",
            (None, 1) => "Results",
            _ => "Overview",
        };
        let mut pages = vec![Link::new(first, "index.html")];
        if self.records.len() > 1 {
            for (record, folder) in self.records.iter().zip(folders) {
                pages.push(Link::new(&record.implementation.title(), &format!("{folder}/index.html")));
            }
        }
        let others = [
            (self.compared.is_some(), "What changed", "changes.html"),
            (self.findings.is_some(), "Recordings", "findings.html"),
            (true, "Clauses", "clauses.html"),
            (true, "Rules", "rules.html"),
            (true, "Formats", "formats.html"),
        ];
        let there = others.into_iter().filter(|(there, _, _)| *there);
        pages.extend(there.map(|(_, title, href)| Link::new(title, href)));
        for OwnPage { name, title, .. } in self.own {
            if pages.iter().any(|link| link.href.eq_ignore_ascii_case(name)) {
                return Err(format!("the site already has a page {name}; give yours another name").into());
            }
            pages.push(Link::new(title, name));
        }
        Ok(pages)
    }

    /// The clauses with the cases that show them: those of the suite that comes with this program, and those that
    /// were run.
    fn clauses<'c>(&'c self, cases: &'c [Case]) -> BTreeMap<&'c str, Vec<Named>> {
        let mut shows: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
        for case in cases {
            for id in &case.clauses {
                shows.entry(id).or_default().insert(&case.name, &case.title);
            }
        }
        for record in &self.records {
            for line in &record.results {
                let title = record.cases.get(&line.case).map_or("", |note| &note.title);
                for id in &line.clauses {
                    shows.entry(id).or_default().entry(&line.case).or_insert(title);
                }
            }
        }
        let cases =
            |cases: BTreeMap<&str, &str>| cases.into_iter().map(|(name, title)| named(name, title)).collect();
        shows.into_iter().map(|(id, shown)| (id, cases(shown))).collect()
    }
}

/// The command that reruns one line; an old record does not say which program was under test.
fn rerun(record: &Record, line: &CaseResult) -> String {
    let run = record.command.as_deref().unwrap_or("mcp-concord run --adapter …");
    format!("{run} --filter {}", quoted(&globset::escape(&format!("{}/{}", line.case, line.format))))
}

fn named(name: &str, title: &str) -> Named {
    Named { name: name.to_owned(), title: title.to_owned() }
}

/// The cases that break and keep each rule.
fn shown(cases: &[Case]) -> RuleCases {
    let by = |of: fn(&Judgement) -> &Vec<String>| {
        let mut found: BTreeMap<String, Vec<Named>> = BTreeMap::new();
        for case in cases {
            for id in case.judgement.iter().flat_map(of) {
                found.entry(id.clone()).or_default().push(named(&case.name, &case.title));
            }
        }
        found
    };
    RuleCases { breaks: by(|judgement| &judgement.breaks), keeps: by(|judgement| &judgement.keeps) }
}

/// How many cases have a transcript in each format.
fn carried(cases: &[Case]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for case in cases {
        let formats: BTreeSet<&str> = case.transcripts.iter().map(|it| it.format.name).collect();
        for format in formats {
            *counts.entry(format).or_default() += 1;
        }
    }
    counts
}

/// A longer name of an implementation is cut: file systems take 255 bytes, and its pages' links should be readable.
const LONGEST_NAME: usize = 80;

/// A name that is cut ends with the first eight digits of its SHA-256, which keep it apart from others that begin alike.
fn cut(name: String) -> String {
    if name.len() <= LONGEST_NAME {
        return name;
    }
    let digest = Sha256::hash(name.as_bytes());
    let digits = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    let end = name.floor_char_boundary(LONGEST_NAME);
    format!("{}-{digits:08x}", &name[..end])
}

/// A folder's name for each implementation, whatever it calls itself.
fn folders(records: &[&Record]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut folder = |record: &&Record| {
        let Implementation { name, version, dialect, .. } = &record.implementation;
        let dialect = dialect.as_ref().map(|dialect| format!("-{dialect}")).unwrap_or_default();
        let name = format!("{name}-{version}{dialect}");
        let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '_' };
        let name: String = name.chars().map(safe).collect();
        let name = cut(name.trim_start_matches('.').to_owned());
        let numbered = (2..).map(|number: u32| format!("{name}-{number}"));
        // Some file systems take upper and lower case for the same.
        let free = |name: &String| taken.insert(name.to_ascii_lowercase());
        std::iter::once(name.clone()).chain(numbered).find(free).unwrap_or_default()
    };
    records.iter().map(&mut folder).collect()
}

fn for_programs(folder: &Path, record: &Record, compact: bool) -> Result<(), Failure> {
    let small = compact.then(|| record.compact());
    let text = json::render(small.as_ref().unwrap_or(record)).map_err(unrendered)?;
    put(folder, "results.json", &text)?;
    let times = Times::new(record);
    if !times.times.is_empty() {
        put(folder, TIMES, &json::times(&times).map_err(unrendered)?)?;
    }
    put(folder, "junit.xml", &junit::render(record))?;
    put(folder, "summary.md", &markdown::render(record))?;
    put(folder, "badge.json", &badge::render(record))
}

/// Folders of an earlier report in `out`, to which no page of this one links.
pub(super) fn left_over(out: &Path, records: &[&Record]) -> Vec<String> {
    let now = if records.len() > 1 { folders(records) } else { Vec::new() };
    let entries = fs::read_dir(out).into_iter().flatten().flatten();
    let is_report = |path: &Path| ["index.html", "results.json"].iter().all(|name| path.join(name).is_file());
    let names = entries.filter(|entry| is_report(&entry.path())).map(|entry| entry.file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.retain(|name| !now.contains(name));
    names.sort_unstable();
    names
}

/// That nobody asked the program to end. It is asked after each file, so that each is whole.
fn not_interrupted() -> Result<(), Failure> {
    match interrupt::requested() {
        true => Err("interrupted".into()),
        false => Ok(()),
    }
}

fn renderer() -> Result<HtmlRenderer, Failure> {
    HtmlRenderer::new(env!("CARGO_PKG_VERSION")).map_err(unrendered)
}

pub(super) fn put(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    replace_in_folder(&path, Access::Usual, |out| out.write_all(text.as_bytes()))
        .map_err(|error| Failure::unwritable(&path, &error))
}

fn unrendered(error: impl Display) -> Failure {
    Failure::Unusable(format!("the report cannot be rendered: {error}"))
}
