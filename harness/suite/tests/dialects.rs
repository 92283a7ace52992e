//! The built-in readers in every dialect, and what a case owes to a dialect.

use mcp_concord_suite::builtin::Builtin;
use mcp_concord_suite::run::{Selection, plan, run};
use mcp_concord_suite::{Format, Importer as _, Root, Suite};
use transcript::dialect;
use verdict::record;

#[test]
fn the_built_in_readers_pass_in_every_dialect() {
    for dialect in dialect::ALL.iter() {
        let suite = Suite::load(&[Root::Embedded]).unwrap().in_dialect(dialect);
        let importer = Builtin(dialect);
        let plan = plan(&suite, &importer, &Selection::default());
        let record = run(&plan, &importer, 2, record::Suite::new("", "")).unwrap();
        let failed: Vec<_> = record.results.iter().filter(|line| line.verdict.is_failure()).collect();
        assert!(failed.is_empty(), "{}: {failed:#?}", dialect.name);
        let named = record.implementation.dialect.as_deref();
        assert_eq!(named, Some(dialect.name).filter(|_| !dialect.is_default()));
    }
}

/// Both ways: a case that names a dialect reads otherwise in it, and a case that names none reads alike.
#[test]
fn a_case_names_the_dialects_in_which_it_reads_otherwise_and_no_other() {
    let suite = Suite::load(&[Root::Embedded]).unwrap();
    for dialect in dialect::ALL.iter().filter(|dialect| !dialect.is_default()) {
        let mut others = 0;
        for case in &suite.cases {
            let named = case.dialects().any(|(other, _)| other == dialect);
            others += usize::from(named);
            for transcript in &case.transcripts {
                let (format, bytes) = (Format::from(transcript.format), transcript.blob.bytes().unwrap());
                let [plain, other] = [&dialect::ALL[0], dialect].map(|it| Builtin(it).answer(format, &bytes));
                assert_eq!(
                    plain != other,
                    named,
                    "{}, {}: {plain:?} and {other:?}",
                    case.name,
                    format.name()
                );
            }
        }
        assert!(others > 0, "no case shows what {} is", dialect.name);
    }
}
