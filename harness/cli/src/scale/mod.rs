//! `run --scale`: an importer is asked for one session at 1, 2, 4, 8 … of what grows in it, and what it takes is measured.

mod fit;

use crate::adapter::{Adapter, Reply, Transcripts};
use formats::Format;
use generators::scale::{DIMENSIONS, Dimension};
use mcp_concord_suite::importer::Importer;
use serde::Serialize;
use std::io;
use std::time::Duration;
use verdict::answer::{Answer, FailureKind};
use verdict::verdict::{Question, Verdict, judge};

/// How much longer than the smallest session one must take before its time says something of its growth. Processor time is known to
/// a hundredth of a second.
const TIME_FLOOR: Duration = Duration::from_millis(100);

/// The same for memory, in bytes.
const MEMORY_FLOOR: f64 = (8 << 20) as f64;

/// What takes less than this is asked again, and the least counts: a busy machine makes times longer, never shorter.
const QUICK: Duration = Duration::from_secs(1);

/// How often a quick one is asked.
const ASKED: usize = 5;

/// How far sizes go, and how fast costs may grow.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Bounds {
    /// No transcript but that of size 1 is larger than this many bytes.
    pub up_to: u64,
    /// Time or memory that grows with a larger power of the size is a fault.
    pub max_exponent: f64,
}

/// A dimension in one format.
#[derive(Debug, Serialize)]
pub(crate) struct Series {
    /// What grows.
    pub dimension: &'static str,
    /// What a size counts.
    pub unit: &'static str,
    pub format: &'static str,
    /// What each size took, smallest first.
    pub steps: Vec<Measurement>,
    /// The power of the size with which time grows; none where it is too short to tell.
    pub time_exponent: Option<f64>,
    /// The same for memory.
    pub memory_exponent: Option<f64>,
    /// Where the program refused to read on, with its words: it may (clause SRV-DEPTH).
    pub refused: Option<String>,
    /// Why this is a failure.
    pub failure: Option<String>,
    /// It is a failure only because time or memory grows too fast.
    #[serde(skip)]
    grows: bool,
}

/// What one size took.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Measurement {
    pub size: usize,
    /// How large the transcript is, in bytes.
    pub bytes: usize,
    /// The time of an answer, in seconds: the processors', where the system tells.
    pub seconds: f64,
    /// The most memory that was seen, in bytes, where the system tells.
    pub memory: Option<u64>,
}

/// The series that can be asked for: each dimension in each format that the importer reads.
pub(crate) fn series(importer: &dyn Importer) -> impl Iterator<Item = (&'static Dimension, &'static Format)> {
    let formats: Vec<_> =
        formats::FORMATS.iter().copied().filter(|it| importer.reads((*it).into())).collect();
    DIMENSIONS.iter().flat_map(move |dimension| {
        let carried: Vec<_> = formats.iter().copied().filter(|it| dimension.is_carried(it)).collect();
        carried.into_iter().map(move |format| (dimension, format))
    })
}

/// Measures a series. One that grows too fast is measured once more, since a growth of the program's shows twice.
pub(crate) fn measure(
    program: &Adapter,
    dimension: &'static Dimension,
    format: &'static Format,
    bounds: Bounds,
) -> io::Result<Series> {
    let series = measure_once(program, dimension, format, bounds)?;
    if series.grows { measure_once(program, dimension, format, bounds) } else { Ok(series) }
}

/// Asks for ever larger sessions until one is too large, is refused or goes wrong.
fn measure_once(
    program: &Adapter,
    dimension: &'static Dimension,
    format: &'static Format,
    bounds: Bounds,
) -> io::Result<Series> {
    let mut series = Series {
        dimension: dimension.name,
        unit: dimension.unit,
        format: format.name,
        steps: Vec::new(),
        time_exponent: None,
        memory_exponent: None,
        refused: None,
        failure: None,
        grows: false,
    };
    let transcripts = Transcripts::new()?;
    let question = Question { level: program.level(), challenge: format.carries.challenge, redacted: None };
    program.restart();
    for size in std::iter::successors(Some(1_usize), |size| size.checked_mul(2)) {
        let (session, expectation) =
            dimension.session(size).map_err(|refusal| io::Error::other(format!("{refusal:?}")))?;
        let mut transcript = Vec::new();
        format.write(&session, &mut transcript)?;
        if size > 1 && transcript.len() as u64 > bounds.up_to {
            break;
        }
        let file = transcripts.lay_out(&transcript)?;
        let Reply { answer, took, worked, mut peak, .. } = program.ask(format.name, file.path());
        let mut spent = worked.unwrap_or(took);
        let judgement = judge(&expectation, &question, &answer);
        let at = format!("at {size} {} ({} bytes)", dimension.unit, transcript.len());
        match (&answer, judgement.verdict) {
            (Answer::Rejection { message, .. }, _) => series.refused = Some(format!("{at}: {message}")),
            (Answer::Unsupported { why }, _) => series.refused = Some(format!("{at}: {why}")),
            (_, Verdict::Pass) => {}
            (Answer::Broken { how: FailureKind::Timeout, message }, _) => {
                series.failure = Some(format!("it hangs {at}: {message}"));
            }
            (_, verdict) => {
                let place = judgement.difference.map(|it| format!("first at {}", it.pointer));
                let words = judgement.message.or(place).unwrap_or_default();
                series.failure = Some(format!("{} {at}: {words}", verdict.name()));
            }
        }
        if series.refused.is_some() || series.failure.is_some() {
            break;
        }
        for _ in 1..if took < QUICK { ASKED } else { 1 } {
            let again = program.ask(format.name, file.path());
            spent = spent.min(again.worked.unwrap_or(again.took));
            peak = peak.max(again.peak);
        }
        series.steps.push(Measurement {
            size,
            bytes: transcript.len(),
            seconds: spent.as_secs_f64(),
            memory: peak,
        });
    }
    series.fit(bounds.max_exponent);
    Ok(series)
}

impl Series {
    fn fit(&mut self, most: f64) {
        let points = |cost: fn(&Measurement) -> Option<f64>| -> Vec<(f64, f64)> {
            self.steps.iter().filter_map(|step| Some((step.size as f64, cost(step)?))).collect()
        };
        self.time_exponent = fit::exponent(&points(|step| Some(step.seconds)), TIME_FLOOR.as_secs_f64());
        self.memory_exponent =
            fit::exponent(&points(|step| step.memory.map(|bytes| bytes as f64)), MEMORY_FLOOR);
        for (what, exponent) in [("time", self.time_exponent), ("memory", self.memory_exponent)] {
            if let Some(power) = exponent.filter(|power| *power > most)
                && self.failure.is_none()
            {
                self.grows = true;
                self.failure = Some(format!(
                    "{what} grows with the power {power:.2} of the size; at most {most} is allowed"
                ));
            }
        }
    }
}
