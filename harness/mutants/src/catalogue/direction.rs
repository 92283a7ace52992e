//! Faults about who asked.

use super::contract::{FAITHFUL, Habits, Request, Response, faithful_bind};
use super::{Mutant, Mutation, mutant};
use transcript::meaning::EventKind;
use transcript::session::Side;

const fn bind(bind: fn(&[Request], &Response<'_>) -> Option<usize>) -> Mutation {
    Mutation::Habit(Habits { bind, ..FAITHFUL })
}

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "direction/one-table",
        &["COR-DIRECTION"],
        "keeps the requests of both sides in one table",
        bind(|requests, response| {
            requests
                .iter()
                .position(|request| !request.answered && Some(&request.key) == response.key.as_ref())
        }),
    ),
    mutant(
        "direction/last-writer",
        &["COR-DIRECTION"],
        "lets a server's request take the place of a client's with the same id",
        bind(|requests, response| {
            requests
                .iter()
                .rposition(|request| Some(&request.key) == response.key.as_ref())
                .filter(|&at| !requests[at].answered)
        }),
    ),
    mutant(
        "direction/own-answers",
        &["COR-DIRECTION"],
        "binds an answer to a request of its own sender",
        bind(|requests, response| {
            requests.iter().position(|request| {
                !request.answered
                    && Some(&request.key) == response.key.as_ref()
                    && request.requestor == response.sender
            })
        }),
    ),
    mutant(
        "direction/clients-do-not-answer",
        &["COR-DIRECTION"],
        "does not bind what a client answers",
        bind(|requests, response| {
            faithful_bind(requests, response).filter(|_| response.sender != Some(Side::Client))
        }),
    ),
    mutant(
        "direction/client-answers-dropped",
        &["EQ-COUNT"],
        "drops what a client answers",
        Mutation::Found(|_, found| {
            found.entries.retain(|seen| {
                seen.side != Some(Side::Client) || !seen.said.as_ref().is_some_and(|said| said.is_response())
            });
        }),
    ),
    mutant(
        "direction/server-requests-dropped",
        &["EQ-COUNT"],
        "drops what a server asks",
        Mutation::Found(|_, found| {
            found.entries.retain(|seen| {
                seen.side != Some(Side::Server)
                    || !seen.said.as_ref().is_some_and(|said| said.kind == EventKind::Request)
            });
        }),
    ),
    mutant(
        "direction/flat-lines",
        &["COR-DIRECTION-FLAT"],
        "takes every answer in lines for a server's, and requests of servers for nobody's",
        Mutation::Found(|format, found| {
            if format != "jsonrpc" {
                return;
            }
            for seen in &mut found.entries {
                let Some(said) = &seen.said else { continue };
                let asked_by_server = ["sampling/", "roots/", "elicitation/"].iter().any(|prefix| {
                    said.method.as_ref().is_some_and(|method| method.starts_with(prefix.as_bytes()))
                });
                seen.side = Some(match asked_by_server || said.is_response() {
                    true => Side::Server,
                    false => Side::Client,
                });
            }
        }),
    ),
];
