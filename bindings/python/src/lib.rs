//! The module `mcp_concord._core`: the functions of [`app`] as Python calls them.
//!
//! Recordings come as `bytes`, answers go as text, errors as `mcp_concord.ConcordError`. The interpreter's lock is released while
//! a function works; on the main thread Ctrl-C is seen before each MiB. What is nicer for people is made in Python, in the
//! package around this module.

use pyo3::pymodule;

mod call;

#[pymodule]
mod _core {
    use super::call::{answered, checked};
    use app::{
        CheckOptions, ConvertOptions, DiffOptions, IdentifyOptions, Outcome, ReadOptions, ShowOptions,
        SummaryOptions,
    };
    use pyo3::prelude::*;
    use pyo3::types::PyBytes;

    #[pymodule_export]
    const VERSION: &str = app::VERSION;

    /// A text, and notes on it.
    type TextAndNotes = (String, Vec<String>);
    /// Where a reader gave up: line, pointer, clause, message.
    type Stopped = (u64, String, &'static str, String);
    /// What became of a frozen set: suite, revision, kept, uncalled, inconclusive, broken, whole.
    type Required = (String, &'static str, usize, usize, usize, usize, bool);
    /// Findings as JSON, format, revision, messages, whether all is well, a limit, and what became of reading and of the set.
    type Judged = (
        String,
        String,
        Option<&'static str>,
        u64,
        bool,
        Option<&'static str>,
        Option<Stopped>,
        Option<Required>,
    );

    /// The meaning of a recording as JSON.
    #[pyfunction]
    #[pyo3(signature = (name, data, *, format, calls, dialect, lenient))]
    fn read(
        py: Python<'_>,
        name: &str,
        data: &[u8],
        format: Option<String>,
        calls: bool,
        dialect: String,
        lenient: bool,
    ) -> PyResult<TextAndNotes> {
        let options = ReadOptions { format, calls, dialect, lenient };
        let answer = answered(py, &options, &[(name, data)])?;
        Ok((answer.text(), answer.notes))
    }

    /// Which transport and revision a recording shows, as JSON.
    #[pyfunction]
    #[pyo3(signature = (name, data, *, format))]
    fn identify(py: Python<'_>, name: &str, data: &[u8], format: Option<String>) -> PyResult<TextAndNotes> {
        let options = IdentifyOptions { format, ..IdentifyOptions::default() };
        let answer = answered(py, &options, &[(name, data)])?;
        Ok((answer.text(), answer.notes))
    }

    /// An overview of a recording, as JSON: an array of one.
    #[pyfunction]
    #[pyo3(signature = (name, data, *, format))]
    fn summary(py: Python<'_>, name: &str, data: &[u8], format: Option<String>) -> PyResult<String> {
        let options = SummaryOptions { format, ..SummaryOptions::default() };
        Ok(answered(py, &options, &[(name, data)])?.text())
    }

    /// What `check` finds.
    #[pyfunction]
    #[pyo3(signature = (
        name, data, *, format, spec, select, ignore, level, strict, profile, require, redacted, mcp_replay_text, every
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are options, by name")]
    fn check(
        py: Python<'_>,
        name: &str,
        data: &[u8],
        format: Option<String>,
        spec: Option<String>,
        select: Vec<String>,
        ignore: Vec<String>,
        level: String,
        strict: bool,
        profile: String,
        require: Option<String>,
        redacted: Vec<String>,
        mcp_replay_text: String,
        every: bool,
    ) -> PyResult<Judged> {
        let options = CheckOptions {
            format,
            spec,
            select,
            ignore,
            level,
            strict,
            profile,
            require,
            redacted,
            mcp_replay_text,
            every,
            ..CheckOptions::default()
        };
        let (checked, json) = checked(py, &options, (name, data))?;
        let well = checked.is_well();
        let file = checked.file;
        let stopped = file.gave_up.map(|place| (place.line, place.pointer, place.clause, place.message));
        let required = file.required.map(|set| {
            (set.suite, set.revision, set.kept, set.uncalled, set.inconclusive, set.broken, set.whole)
        });
        Ok((json, file.format, file.revision, file.messages, well, file.limit, stopped, required))
    }

    /// Whether two recordings are the same session, what differs as JSON, and notes.
    #[pyfunction]
    #[pyo3(signature = (
        names, a, b, *, left_format, right_format, redacted, ids, ignore, unordered_answers, ignore_refusals,
        ignore_senders, fold_redelivered, show
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are options, by name")]
    fn diff(
        py: Python<'_>,
        names: (String, String),
        a: &[u8],
        b: &[u8],
        left_format: Option<String>,
        right_format: Option<String>,
        redacted: Option<String>,
        ids: String,
        ignore: Vec<String>,
        unordered_answers: bool,
        ignore_refusals: bool,
        ignore_senders: bool,
        fold_redelivered: bool,
        show: u64,
    ) -> PyResult<(bool, String, Vec<String>)> {
        let options = DiffOptions {
            left_format,
            right_format,
            redacted,
            ids,
            ignore,
            unordered_answers,
            ignore_refusals,
            ignore_senders,
            fold_redelivered,
            show,
            ..DiffOptions::default()
        };
        let answer = answered(py, &options, &[(&names.0, a), (&names.1, b)])?;
        Ok((answer.outcome == Outcome::Well, answer.text(), answer.notes))
    }

    /// A recording in another format, and notes.
    #[pyfunction]
    #[pyo3(signature = (name, data, *, to, format, lossy, salvage))]
    fn convert<'py>(
        py: Python<'py>,
        name: &str,
        data: &[u8],
        to: String,
        format: Option<String>,
        lossy: bool,
        salvage: bool,
    ) -> PyResult<(Bound<'py, PyBytes>, Vec<String>)> {
        let options = ConvertOptions { to, format, lossy, salvage };
        let converted = answered(py, &options, &[(name, data)])?;
        Ok((PyBytes::new(py, &converted.bytes), converted.notes))
    }

    /// A recording drawn, and notes.
    #[pyfunction]
    #[pyo3(signature = (name, data, *, format, output, all, first, last, check, lenient, width))]
    #[expect(clippy::too_many_arguments, reason = "they are options, by name")]
    fn show(
        py: Python<'_>,
        name: &str,
        data: &[u8],
        format: Option<String>,
        output: String,
        all: bool,
        first: Option<u64>,
        last: Option<u64>,
        check: bool,
        lenient: bool,
        width: usize,
    ) -> PyResult<TextAndNotes> {
        let options = ShowOptions {
            format,
            output,
            all,
            from: first,
            to: last,
            check,
            lenient,
            width,
            ..ShowOptions::default()
        };
        let answer = answered(py, &options, &[(name, data)])?;
        Ok((answer.text(), answer.notes))
    }
}
