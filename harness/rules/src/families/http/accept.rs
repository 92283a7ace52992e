//! What a client says that it accepts.

use crate::engine::{RuleContext, Violation, quoted};
use crate::rule::{Level, Rule};
use transcript::session::{Headers, header};

/// Whether a part of an `Accept` header has the weight nought, which says that the type is not acceptable.
fn is_refused(part: &str) -> bool {
    let mut parameters = part.split(';').skip(1).filter_map(|parameter| parameter.trim().split_once('='));
    parameters.any(|(name, weight)| {
        name.trim().eq_ignore_ascii_case("q")
            && weight.trim().parse::<f32>().is_ok_and(|weight| weight == 0.0)
    })
}

pub(super) fn media_range(part: &str) -> String {
    part.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Judges whether an `Accept` header lists each of these types.
pub(crate) fn accept(rule: &'static Rule, types: &[&str], headers: &Headers<'_>, at: &RuleContext<'_>) {
    match not_accepted(types, headers) {
        None => at.pass(rule),
        Some(wrong) if header(headers, "accept").is_none() => at.lacks_header(rule, headers, "accept", wrong),
        Some(wrong) => at.fail(rule, wrong),
    }
}

/// What is wrong with an `Accept` header that is to list each of these types. A wildcard that covers them is good HTTP and
/// yet no listing.
pub(super) fn not_accepted(types: &[&str], headers: &Headers<'_>) -> Option<Violation<'static>> {
    let mut listed = Vec::new();
    for (_, value) in headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("accept")) {
        // A weight of nought takes a type out.
        let types = value.split(',').filter(|part| !is_refused(part)).map(media_range);
        listed.extend(types);
    }
    let missing: Vec<&&str> =
        types.iter().filter(|wanted| !listed.iter().any(|one| one == **wanted)).collect();
    let covered = |wanted: &str| {
        let family = wanted.split('/').next().unwrap_or_default();
        listed.iter().any(|one| one == "*/*" || *one == format!("{family}/*"))
    };
    let first = missing.first()?;
    if missing.iter().all(|wanted| covered(wanted)) {
        let wrong = format!("`Accept` covers {first} only by a wildcard");
        return Some(Violation::new(wrong).only(Level::Should));
    }
    Some(Violation::new(match header(headers, "accept") {
        None => "there is no `Accept` header".to_owned(),
        Some(value) => format!("`Accept` is {}, without {first}", quoted(value)),
    }))
}
