//! A small record for the tests of the renderers.

use judge::answer::Level;
use judge::record::{Implementation, Line, Note, Record, Suite};
use judge::verdict::{Judgement, Verdict};

/// A record with one case a verdict, `ids/0` and so on, each in the format `x`.
pub(crate) fn record(verdicts: &[Verdict]) -> Record {
    let suite = Suite::new("1", &format!("sha256:{:064}", 0));
    let implementation = Implementation { name: "i".into(), version: "2".into(), level: Level::Events };
    let lines = verdicts.iter().enumerate().map(|(index, &verdict)| {
        Line::new(&format!("ids/{index}"), "x", &["ID-NULL".to_owned()], Judgement::plain(verdict, None))
    });
    let lines: Vec<Line> = lines.collect();
    let cases =
        lines.iter().map(|line| (line.case.clone(), Note::new(&line.case, "Mind the null."))).collect();
    Record::new(suite, implementation, cases, lines)
}
