//! The list of formats.

use crate::format::Format;
use crate::recorders::{agent_vcr, directed_jsonl, mcp_cassette, mcp_rec, mcp_recorder, mcporter};
use crate::{
    claude_desktop_log, envelope, har, inspector, inspector_network, jsonrpc, marked_text, mcp_replay, txtar,
    vscode_log,
};

/// Every capture format, in the order in which they are listed. Detection tries them from the last to the first,
/// since the least shows the first.
pub static FORMATS: &[&Format] = &[
    &jsonrpc::FORMAT,
    &envelope::STREAMABLE_HTTP,
    &envelope::HTTP_SSE,
    &mcp_replay::FORMAT,
    &inspector::FORMAT,
    &har::FORMAT,
    &mcp_rec::FORMAT,
    &mcporter::FORMAT,
    &mcp_recorder::FORMAT,
    &vscode_log::FORMAT,
    &inspector_network::FORMAT,
    &claude_desktop_log::FORMAT,
    &marked_text::FORMAT,
    &directed_jsonl::FORMAT,
    &mcp_cassette::FORMAT,
    &agent_vcr::FORMAT,
    &txtar::FORMAT,
];

/// The format of this name or alias.
#[must_use]
pub fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| format.name == name || format.aliases.contains(&name))
}

/// The format that `name` asks for.
///
/// # Errors
/// A sentence that lists the formats, or says what to use instead of one that is gone.
pub fn named(name: &str) -> Result<&'static Format, String> {
    find(name).ok_or_else(|| match RETIRED.iter().find(|(retired, _)| *retired == name) {
        Some((_, instead)) => (*instead).to_owned(),
        None => format!("there is no format `{name}`; the formats are {}", names()),
    })
}

/// The formats that sessions are written in.
pub fn written() -> impl Iterator<Item = &'static Format> + Clone {
    FORMATS.iter().copied().filter(|format| format.is_written())
}

/// The format that `name` asks for, to write a session in it.
///
/// # Errors
/// A sentence, as [`named`], or that the format is [`only_read`].
pub fn to_write(name: &str) -> Result<&'static Format, String> {
    named(name).and_then(|format| only_read(format).map_or(Ok(format), Err))
}

/// Why no session is written in a format, and what to use instead; none where sessions are.
#[must_use]
pub fn only_read(format: &Format) -> Option<String> {
    let others: Vec<_> = [plainest(), live(false)].into_iter().flatten().map(|other| other.name).collect();
    let why = || format!("{} is only read, never written: use {} instead", format.name, others.join(" or "));
    (!format.is_written()).then(why)
}

/// Formats that are gone: their names, and what to use instead.
const RETIRED: &[(&str, &str)] = &[("mcp-vcr", MCP_VCR)];

/// What to use instead of the YAML of mcp-vcr.
pub(crate) const MCP_VCR: &str = "the YAML of mcp-vcr is neither read nor written: `mcp-vcr record --format ndjson` writes \
                                  lines of JSON, which are the format directed-jsonl";

/// The names of formats that are gone.
pub fn retired() -> impl Iterator<Item = &'static str> {
    RETIRED.iter().map(|(name, _)| *name)
}

/// The names of all formats, for a sentence.
#[must_use]
pub fn names() -> String {
    FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}

/// The format that is messages and nothing else, which every session can be written in.
#[must_use]
pub fn plainest() -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| format.is_bare_lines())
}

/// The format that this program's recorders write while a session goes on: of whole HTTP exchanges, or of one server's stdio.
#[must_use]
pub fn live(exchanges: bool) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| format.live && format.carries.exchanges == exchanges)
}
