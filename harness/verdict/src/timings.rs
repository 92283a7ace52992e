//! How long the readings of a run took: `times.json`, schema 1.
//!
//! The shape of the file, and which run it belongs to. Times stand apart from the record, which is the same for the
//! same results.

use crate::record::{CaseResult, Implementation, Record};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The version of this shape.
pub const SCHEMA: u32 = 1;

/// The times of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Times {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What was run.
    pub implementation: Implementation,
    /// Every reading that was asked for, in the order of the record.
    pub times: Vec<Time>,
}

/// The time of one reading.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Time {
    /// The case.
    pub case: String,
    /// The capture format.
    pub format: String,
    /// Microseconds for both answers: an importer is asked twice.
    pub microseconds: u64,
}

/// Why times are not those of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stray {
    /// They are of another version of the shape.
    Schema(u32),
    /// They are of another implementation.
    Implementation(String),
    /// They name a reading that the record does not have.
    Reading(String),
}

impl fmt::Display for Stray {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema(schema) => {
                write!(formatter, "the times have schema {schema}; this program reads schema {SCHEMA}")
            }
            Self::Implementation(name) => write!(formatter, "the times are of {name}, but the record is not"),
            Self::Reading(name) => {
                write!(formatter, "there is a time for {name}, but no result in the record")
            }
        }
    }
}

impl Times {
    /// The times that the lines of `record` hold.
    pub fn new(record: &Record) -> Self {
        let time = |line: &CaseResult| {
            let microseconds = u64::try_from(line.took?.as_micros()).unwrap_or(u64::MAX);
            Some(Time { case: line.case.clone(), format: line.format.clone(), microseconds })
        };
        let times = record.results.iter().filter_map(time).collect();
        Self { schema: SCHEMA, implementation: record.implementation.clone(), times }
    }

    /// Puts the times at the lines of the record that they belong to.
    ///
    /// # Errors
    /// Where they belong to another record. A reading without a time is none.
    pub fn give(self, record: &mut Record) -> Result<(), Stray> {
        if self.schema != SCHEMA {
            return Err(Stray::Schema(self.schema));
        }
        if self.implementation != record.implementation {
            let Implementation { name, version, .. } = self.implementation;
            return Err(Stray::Implementation(format!("{name} {version}")));
        }
        let mut lines: BTreeMap<(&str, &str), &mut Option<Duration>> = BTreeMap::new();
        for line in &mut record.results {
            lines.insert((&line.case, &line.format), &mut line.took);
        }
        for Time { case, format, microseconds } in &self.times {
            match lines.get_mut(&(case.as_str(), format.as_str())) {
                Some(took) => **took = Some(Duration::from_micros(*microseconds)),
                None => return Err(Stray::Reading(format!("{case}/{format}"))),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Stray, Time, Times};
    use crate::record::{CaseResult, Record};
    use crate::verdict::{Judgement, Verdict};
    use std::time::Duration;

    fn record() -> Record {
        let line = |format| CaseResult::new("ids/a", format, &[], Judgement::plain(Verdict::Pass, None));
        let mut record = crate::testing::record(vec![line("x"), line("y")]);
        record.results[1].took = Some(Duration::from_micros(1_500));
        record
    }

    #[test]
    fn times_stand_apart_and_find_back() {
        let timed = record();
        let mut plain: Record = serde_json::from_str(&serde_json::to_string(&timed).unwrap()).unwrap();
        assert!(plain.results.iter().all(|line| line.took.is_none()));
        let text = serde_json::to_string(&Times::new(&timed)).unwrap();
        assert!(text.contains("\"microseconds\":1500") && !text.contains("\"x\""), "{text}");
        serde_json::from_str::<Times>(&text).unwrap().give(&mut plain).unwrap();
        let took: Vec<_> = plain.results.iter().map(|line| line.took).collect();
        assert_eq!(took, [None, Some(Duration::from_micros(1_500))]);
    }

    #[test]
    fn times_of_another_run_are_refused() {
        let mut times = Times::new(&record());
        times.times.push(Time { case: "ids/b".into(), format: "x".into(), microseconds: 1 });
        assert_eq!(times.clone().give(&mut record()), Err(Stray::Reading("ids/b/x".into())));
        times.implementation.version = "3".into();
        assert_eq!(times.clone().give(&mut record()), Err(Stray::Implementation("i 3".into())));
        times.schema = 9;
        assert_eq!(times.give(&mut record()), Err(Stray::Schema(9)));
    }
}
