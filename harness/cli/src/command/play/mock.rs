//! `play --match request`: a server that answers each request with what the recording has for it.

use crate::command::context::{CommandContext, Failure};
use crate::terminal::plain;
use formats::{Format, Session};
use std::path::Path;
use verdict::plain::counted;
use wire::StartError;
use wire::files::{Access, replace};
use wire::play::http::Server;
use wire::play::mock::{self, AskLive, Matching, Served};
use wire::play::{Plan, Played};

/// How messages of the other side are matched with those of the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Match {
    /// The other side follows the recorded session from its beginning to its end.
    Session,
    /// The same, and a request that differs is answered with an error that says how.
    Strict,
    /// Each request is answered as the same one is in the recording, in any order, until the client goes.
    Request,
}

/// Answering by request.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Answering by request")]
pub(super) struct MockArgs {
    /// How to match what the other side sends.
    #[arg(long = "match", value_enum, value_name = "BY", default_value = "session")]
    by: Match,
    /// With `--match request`: give each recorded answer once to a client, instead of the last of several again.
    #[arg(long)]
    once: bool,
    /// With `--match request`: start this server for what the recording does not have, and add that to the recording.
    #[arg(long, value_name = "CMD")]
    record_new: Option<String>,
    /// Ask the server of `--record-new` everything, and put its answers in place of the recorded ones.
    #[arg(long, requires = "record_new", conflicts_with = "once")]
    update: bool,
}

impl MockArgs {
    /// Whether a request that differs is refused.
    pub(super) fn is_strict(&self) -> bool {
        self.by == Match::Strict
    }

    /// How requests are answered; none where a session is followed.
    /// `serves`: a server is played. `follows`: a variation is asked for that only a followed session has.
    pub(super) fn matching(&self, serves: bool, follows: bool) -> Result<Option<Matching>, Failure> {
        if self.by != Match::Request {
            let given = [(self.once, "--once"), (self.record_new.is_some(), "--record-new")];
            return match given.iter().find(|(given, _)| *given) {
                Some((_, option)) => Err(format!("{option} needs --match request").into()),
                None => Ok(None),
            };
        }
        if !serves {
            return Err("only a server answers requests: --match request needs --as server".into());
        }
        if follows {
            let why = "--merge, --close-after, --redeliver and --half-line-at-end cannot be used with --match request: they follow a session";
            return Err(why.into());
        }
        let live = match &self.record_new {
            None => None,
            Some(text) => {
                let words =
                    shell_words::split(text).map_err(|error| format!("--record-new {text}: {error}"))?;
                if words.is_empty() {
                    return Err("the command of --record-new is empty; name a program".into());
                }
                Some((words, if self.update { AskLive::All } else { AskLive::New }))
            }
        };
        Ok(Some(Matching { once: self.once, live }))
    }
}

/// Whether what is new can be put into this recording, where that is asked for.
pub(super) fn check(
    matching: Option<&Matching>,
    (path, format): (&Path, &Format),
    session: &Session,
) -> Result<(), Failure> {
    if matching.is_none_or(|matching| matching.live.is_none()) {
        return Ok(());
    }
    let unusable = |why| Failure::Unusable(format!("{}: {why}", plain(&path.display().to_string())));
    if !path.is_file() {
        return Err(unusable("--record-new adds to a recording that is a file: name one".to_owned()));
    }
    mock::can_grow(session, format).map_err(unusable)
}

/// Answers until the client goes, or until Ctrl-C over HTTP, and puts what was new into the recording.
pub(super) fn run(
    matching: &Matching,
    server: Option<Server>,
    (path, format): (&Path, &'static Format),
    plan: &Plan<'_>,
    context: CommandContext,
) -> Result<(Played, Option<String>), Failure> {
    let unusable = |why| Failure::Unusable(format!("{}: {why}", plan.name));
    let served = match server {
        Some(server) => server.answer(plan, matching),
        None => mock::as_server(plan, matching),
    };
    let Served { played, new, not_started } = served.map_err(|refused| match refused {
        StartError::Unusable(why) => unusable(why),
        StartError::CannotRun(why) => Failure::NotRun(why),
    })?;
    if !new.is_empty() {
        let renewed = matches!(matching.live, Some((_, AskLive::All)));
        let (count, done) = (new.len(), if renewed { "renewed" } else { "added" });
        let bytes = mock::grown(plan.script, plan.rules, new, renewed, format).map_err(unusable)?;
        replace(path, Access::Usual, |out| out.write_all(&bytes))
            .map_err(|error| Failure::unwritable(path, &error))?;
        context.terminal.note(&format!(
            "{}: {} of the client {done}, each with its answer and notifications",
            plan.name,
            counted(count, "message")
        ));
    }
    Ok((played, not_started))
}
