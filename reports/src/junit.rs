//! JUnit XML: suites of cases, as CI systems read it.
//!
//! XML cannot hold control characters, so they are left out, and the escape sequences of terminals as a whole.

use crate::plain::is_obeyed;
use std::fmt::Write as _;
use std::ops::AddAssign;
use std::time::Duration;

/// A suite of cases.
#[derive(Debug, Default)]
pub(crate) struct JunitSuite {
    pub(crate) name: String,
    pub(crate) properties: Vec<(&'static str, String)>,
    pub(crate) cases: Vec<JunitCase>,
}

/// A case, and what came of it.
#[derive(Debug, Default)]
pub(crate) struct JunitCase {
    pub(crate) name: String,
    pub(crate) class: Option<String>,
    pub(crate) time: Option<Duration>,
    /// Why it did not succeed; none where it did.
    pub(crate) status: Option<JunitStatus>,
    /// What it printed.
    pub(crate) output: Option<String>,
}

/// Why a case did not succeed.
#[derive(Debug)]
pub(crate) struct JunitStatus {
    pub(crate) outcome: JunitOutcome,
    pub(crate) message: String,
    /// A word for it.
    pub(crate) verdict: Option<&'static str>,
    pub(crate) description: Option<String>,
}

/// How a case ends that does not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JunitOutcome {
    Failure,
    Error,
    Skipped,
}

/// How many cases there are, and of these how many ended in which way.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct JunitCounts {
    tests: usize,
    skipped: usize,
    failures: usize,
    errors: usize,
}

impl AddAssign for JunitCounts {
    fn add_assign(&mut self, more: Self) {
        self.tests += more.tests;
        self.skipped += more.skipped;
        self.failures += more.failures;
        self.errors += more.errors;
    }
}

/// A report: what is in all of it, and its suites, which [`JunitSuite::spell`] spelled.
pub(crate) fn head(name: &str, counts: JunitCounts) -> String {
    let JunitCounts { tests, skipped, failures, errors } = counts;
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" tests=\"{tests}\" skipped=\"{skipped}\" \
         failures=\"{failures}\" errors=\"{errors}\">\n",
        text(name)
    )
}

/// What comes after the suites.
pub(crate) const TAIL: &str = "</testsuites>\n";

impl JunitSuite {
    /// Adds the XML of the suite, and returns its counts.
    pub(crate) fn spell(&self, out: &mut String) -> JunitCounts {
        let outcome = |outcome| {
            let ended =
                |case: &&JunitCase| case.status.as_ref().is_some_and(|status| status.outcome == outcome);
            self.cases.iter().filter(ended).count()
        };
        let [skipped, failures, errors] =
            [JunitOutcome::Skipped, JunitOutcome::Failure, JunitOutcome::Error].map(outcome);
        let tests = self.cases.len();
        let _ = write!(
            out,
            "    <testsuite name=\"{}\" tests=\"{tests}\" skipped=\"{skipped}\" errors=\"{errors}\" failures=\"{failures}\"",
            text(&self.name)
        );
        // Readers of JUnit do not add up the times of the cases themselves.
        let times = self.cases.iter().filter_map(|case| case.time);
        attribute("time", times.reduce(|sum, time| sum + time).map(seconds), out);
        if self.cases.is_empty() && self.properties.is_empty() {
            out.push_str("/>\n");
            return JunitCounts::default();
        }
        out.push_str(">\n");
        if !self.properties.is_empty() {
            out.push_str("        <properties>\n");
            for (name, value) in &self.properties {
                let _ = writeln!(out, "            <property name=\"{name}\" value=\"{}\"/>", text(value));
            }
            out.push_str("        </properties>\n");
        }
        self.cases.iter().for_each(|case| case.spell(out));
        out.push_str("    </testsuite>\n");
        JunitCounts { tests, skipped, failures, errors }
    }
}

impl JunitCase {
    fn spell(&self, out: &mut String) {
        let _ = write!(out, "        <testcase name=\"{}\"", text(&self.name));
        attribute("classname", self.class.as_deref().map(text), out);
        attribute("time", self.time.map(seconds), out);
        if self.status.is_none() && self.output.is_none() {
            out.push_str("/>\n");
            return;
        }
        out.push_str(">\n");
        if let Some(JunitStatus { outcome, message, verdict, description }) = &self.status {
            let tag = match outcome {
                JunitOutcome::Failure => "failure",
                JunitOutcome::Error => "error",
                JunitOutcome::Skipped => "skipped",
            };
            let _ = write!(out, "            <{tag} message=\"{}\"", text(message));
            attribute("type", verdict.map(str::to_owned), out);
            let _ = match description {
                Some(description) => writeln!(out, ">{}</{tag}>", text(description)),
                None => writeln!(out, "/>"),
            };
        }
        if let Some(output) = &self.output {
            let _ = writeln!(out, "            <system-out>{}</system-out>", text(output));
        }
        out.push_str("        </testcase>\n");
    }
}

fn attribute(name: &str, value: Option<String>, out: &mut String) {
    if let Some(value) = value {
        let _ = write!(out, " {name}=\"{value}\"");
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

/// A text as XML holds it, in an element or an attribute.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\'' => out.push_str("&apos;"),
            '"' => out.push_str("&quot;"),
            // A log that shows the file obeys what begins a line, or stands behind `##[`.
            '\n' => out.push_str("&#10;"),
            '#' if chars.as_str().starts_with("#[") => out.push_str("&#35;"),
            // The sequence up to its last character, such as the `m` of `ESC[31m`; one that does not begin so is of two.
            '\u{1b}' => {
                if chars.next() == Some('[') {
                    chars.find(|char| ('@'..='~').contains(char));
                }
            }
            char if is_obeyed(char) => {}
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{JunitCase, JunitOutcome, JunitStatus, JunitSuite};

    #[test]
    fn a_text_is_what_xml_can_hold_and_no_markup() {
        for (text, spelled) in [
            ("a & <b> \"c\" 'd'\n", "a &amp; &lt;b&gt; &quot;c&quot; &apos;d&apos;&#10;"),
            ("\u{1b}[31;1mred\u{1b}[0m\t\r\0\u{9b}", "red"),
            ("\u{1b}", ""),
            ("a\r\n::error::b\n##[error]c#d", "a&#10;::error::b&#10;&#35;#[error]c#d"),
            ("a\u{202e}b\u{7f}c\u{2028}d\u{ffff}", "abcd"),
        ] {
            assert_eq!(super::text(text), spelled);
        }
    }

    #[test]
    fn what_is_empty_is_one_element() {
        let mut out = String::new();
        JunitSuite { name: "a".into(), ..JunitSuite::default() }.spell(&mut out);
        let message = "m".to_owned();
        let status = JunitStatus { outcome: JunitOutcome::Error, message, verdict: None, description: None };
        let cases = vec![JunitCase { name: "c".into(), status: Some(status), ..JunitCase::default() }];
        JunitSuite { name: "b".into(), cases, ..JunitSuite::default() }.spell(&mut out);
        let expected = r#"    <testsuite name="a" tests="0" skipped="0" errors="0" failures="0"/>
    <testsuite name="b" tests="1" skipped="0" errors="1" failures="0">
        <testcase name="c">
            <error message="m"/>
        </testcase>
    </testsuite>
"#;
        assert_eq!(out, expected);
    }
}
