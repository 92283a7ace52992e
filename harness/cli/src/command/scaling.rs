//! `run --scale`: what the measurements are, as a table and as JSON.

use super::context::{CommandContext, Failure};
use crate::adapter::Adapter;
use crate::exit;
use crate::scale::{Bounds, Series, measure, series};
use crate::terminal::{Verbosity, plain};
use formats::Format;
use globset::GlobMatcher;
use mcp_concord_suite::run::implementation;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;
use verdict::record::Implementation;
use wire::files::{Access, replace};
use wire::interrupt;

/// What is to be measured, and where it goes.
pub(super) struct Scaling<'s> {
    /// How far sizes go, and how fast costs may grow.
    pub(super) bounds: Bounds,
    /// Only what matches one of these globs over `dimension` or `dimension/format`.
    pub(super) filters: &'s [GlobMatcher],
    /// Only these formats; every one where there are none.
    pub(super) formats: &'s [&'static Format],
    /// A file for the measurements, as JSON.
    pub(super) results: Option<&'s Path>,
}

/// The measurements as they are kept. `docs/run.md` describes them.
#[derive(Serialize)]
struct SeriesRecord<'k> {
    scale: u32,
    implementation: Implementation,
    bounds: Bounds,
    series: &'k [Series],
}

impl Scaling<'_> {
    /// Measures, writes and tells. Exit code 1 where something hangs, crashes, is read wrongly or grows too fast.
    pub(super) fn run(&self, program: &Adapter, context: CommandContext) -> Result<u8, Failure> {
        let wanted = |name: &str| self.filters.is_empty() || self.filters.iter().any(|it| it.is_match(name));
        let chosen: Vec<_> = series(program)
            .filter(|(_, format)| {
                self.formats.is_empty() || self.formats.iter().any(|only| only.name == format.name)
            })
            .filter(|(dimension, format)| {
                wanted(dimension.name) || wanted(&format!("{}/{}", dimension.name, format.name))
            })
            .collect();
        if chosen.is_empty() {
            let names: Vec<_> = generators::scale::DIMENSIONS.iter().map(|it| it.name).collect();
            let message = "--filter and --format leave nothing to measure; the dimensions are";
            return Err(format!("{message} {}", names.join(", ")).into());
        }
        let mut out = io::stdout().lock();
        let quiet = matches!(context.terminal.verbosity, Verbosity::Quiet);
        if !quiet {
            out.write_all(HEAD.as_bytes())?;
        }
        let mut all = Vec::new();
        for (dimension, format) in chosen {
            let series = measure(program, dimension, format, self.bounds)
                .map_err(|error| format!("a transcript cannot be written: {error}"))?;
            // What an interrupt made of an answer is none.
            if interrupt::requested() {
                break;
            }
            let verbose = matches!(context.terminal.verbosity, Verbosity::Verbose);
            out.write_all(lines(&series, quiet, verbose).as_bytes())?;
            out.flush()?;
            all.push(series);
        }
        let failures = all.iter().filter(|series| series.failure.is_some()).count();
        let refused = all.iter().filter(|series| series.refused.is_some()).count();
        let cut = if interrupt::requested() { "interrupted; " } else { "" };
        writeln!(
            out,
            "{cut}{} series up to {}: {failures} failed, {refused} ended in a refusal",
            all.len(),
            size(self.bounds.up_to)
        )?;
        if let Some(path) = self.results {
            let implementation = implementation(program);
            let kept = SeriesRecord { scale: 1, implementation, bounds: self.bounds, series: &all };
            let text = serde_json::to_string_pretty(&kept).map_err(io::Error::from)? + "\n";
            replace(path, Access::Usual, |out| out.write_all(text.as_bytes()))
                .map_err(|error| Failure::unwritable(path, &error))?;
        }
        Ok(interrupt::code().unwrap_or(if failures == 0 { exit::WELL } else { exit::FAILED }))
    }
}

const HEAD: &str = "\
dimension  format                         largest   transcript     time   memory  time ~  memory ~\n";

fn lines(series: &Series, quiet: bool, verbose: bool) -> String {
    let mut out = String::new();
    let Series { dimension, format, unit, .. } = series;
    let power = |exponent: Option<f64>| exponent.map_or("-".to_owned(), |it| format!("n^{it:.2}"));
    let last = series.steps.len().saturating_sub(1);
    for (at, step) in series.steps.iter().enumerate().filter(|(at, _)| !quiet && (verbose || *at == last)) {
        let memory = step.memory.map_or("-".to_owned(), size);
        let (time, grown) = match at == last {
            true => (power(series.time_exponent), power(series.memory_exponent)),
            false => (String::new(), String::new()),
        };
        let amount = format!("{} {unit}", step.size);
        let line = format!(
            "{dimension:<9}  {format:<17}  {amount:>18}  {:>11}  {:>6.2}s  {memory:>7}  {time:>6}  {grown:>8}",
            size(step.bytes as u64),
            step.seconds
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    if let Some(words) = series.refused.as_deref().filter(|_| !quiet) {
        let _ = writeln!(out, "refused: {dimension}/{format} {}", plain(words));
    }
    if let Some(words) = &series.failure {
        let _ = writeln!(out, "fail: {dimension}/{format} {}", plain(words));
    }
    out
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}
