//! Small records for the tests of the renderers.

use verdict::answer::Level;
use verdict::record::{CaseNote, CaseResult, Implementation, Record, Suite};
use verdict::verdict::{Judgement, Verdict};

/// A record with one case a verdict, `ids/0` and so on, each in the format `x`.
pub(crate) fn record(verdicts: &[Verdict]) -> Record {
    let lines = verdicts.iter().enumerate();
    record_of(lines.map(|(index, &verdict)| line(&format!("ids/{index}"), "x", verdict)).collect())
}

/// A record of these readings.
pub(crate) fn record_of(lines: Vec<CaseResult>) -> Record {
    let suite = Suite::new("1", &format!("sha256:{:064}", 0));
    let implementation = Implementation::new("i", "2", Level::Events);
    let cases =
        lines.iter().map(|line| (line.case.clone(), CaseNote::new(&line.case, "Mind the null."))).collect();
    Record::new(suite, implementation, cases, lines)
}

/// A reading that came to `verdict`.
pub(crate) fn line(case: &str, format: &str, verdict: Verdict) -> CaseResult {
    CaseResult::new(case, format, &["ID-NULL".to_owned()], Judgement::plain(verdict, None))
}
