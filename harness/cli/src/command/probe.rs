//! `probe`: does this live server, or client, keep to the specification?

mod args;
mod findings;
mod fuzz;
mod fuzz_values;
mod hosted;
mod shortfalls;

use super::check::Output;
use super::context::{CommandContext, Failure};
use super::input::open_kept;
use super::outcome::watch;
pub(crate) use args::Args;

use app::{Cause, CheckOptions, ReadOptions};
use rules::record::Problem;
use rules::{Revision, RuleVerdict};
use serde_json::Value;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use wire::Notify;
use wire::probe::{Calls, Probe, Probed, SCRIPT};
use wire::proxy::Target;
use wire::record::Server;

pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    let code = played(args, context);
    if let Err(Failure::NotRun(why)) = &code {
        not_run(args, why, context)?;
    }
    code
}

/// Tells a program why nothing could be judged.
fn not_run(args: &Args, why: &str, context: CommandContext) -> Result<(), Failure> {
    let (mut out, name) = (args.out(), "session".to_owned());
    match args.output {
        Output::Text => return Ok(()),
        Output::Json => {
            let session = Probed { is_client: args.role == "server", ..Probed::default() };
            let verdict = RuleVerdict::Inconclusive;
            let line = findings::finding(findings::MESSAGES, verdict, &name, &session, why.to_owned());
            writeln!(out, "[\n{}\n]", serde_json::to_string(&line).map_err(io::Error::other)?)?;
        }
        _ => {
            let mut renderer = args.renderer(context)?;
            renderer.problem(&Problem { file: name, message: why.to_owned() }, &mut out)?;
            renderer.finish(&mut out)?;
        }
    }
    Ok(out.flush()?)
}

fn played(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    if let Some(why) = args.misplaced() {
        return Err(Failure::Unusable(why));
    }
    if args.list {
        return if args.role == "server" { hosted::list() } else { list() };
    }
    if args.role == "server" {
        return hosted::run(args, context);
    }
    let options = args.options("server", context);
    // Before anything is started: options may be wrong.
    let judge = app::Judge::new(&options)?;
    let mut renderer = args.renderer(context)?;
    let known = args.known(context)?;
    let server = match &args.url {
        Some(url) => {
            Server::Http(Target::parse(url).map_err(|why| Failure::Unusable(format!("--url: {why}")))?)
        }
        None => Server::Command(args.command.clone()),
    };
    let aside = args.aside()?;
    let folder = args.folder(aside.as_ref())?;
    let probe = Probe {
        server,
        calls: match args.call.as_slice() {
            [] => Calls::ReadOnly,
            names if names.iter().any(|name| name == "all") => Calls::All,
            names => Calls::Named(names.to_vec()),
        },
        given: args.from.as_deref().map(|path| given(path, context)).transpose()?.unwrap_or_default(),
        // Fuzzing makes arguments of its own.
        misfit: if args.fuzz.is_some() {
            |_, _| None
        } else {
            |schema, made| rules::misfit(&schema.to_string(), &made.to_string())
        },
        patience: args.timeout,
        select: rules::selection::named(&args.select)
            .map_err(Failure::Unusable)?
            .into_iter()
            .map(str::to_owned)
            .collect(),
        revision: args.require.unwrap_or(Revision::V2025_11_25),
        folder,
    };
    watch()?;
    let notify: Arc<dyn Notify> = Arc::new(args::Aside(context));
    if let Some(calls) = args.fuzz {
        return fuzz::run(args, calls, &probe, &notify, &judge, &mut *renderer, context);
    }
    let sessions = probe.run(&notify)?;
    let mut out = args.out();
    let required = args.require.map(|revision| {
        app::Judge::new(&CheckOptions {
            require: Some(revision.name().to_owned()),
            every: options.every,
            ..CheckOptions::default()
        })
    });
    let asked = findings::Asked {
        require: args.require,
        kept: args.out.is_some(),
        strict: args.strict,
        patience: args.timeout,
        every: args.output != Output::Text || options.every,
        server: args.rerun(),
        rerun: None,
    };
    let mut files = findings::judged(&asked, &sessions, &judge, required.transpose()?.as_ref(), context)?;
    let is_stale = args.let_pass(known.as_ref(), &sessions, &mut files, context)?;
    let code = findings::print(&asked, &sessions, &files, &mut *renderer, &mut out, context)?;
    Ok(if is_stale && code == crate::exit::WELL { crate::exit::FAILED } else { code })
}

/// The calls of a recording: tools and their arguments.
fn given(path: &Path, context: CommandContext) -> Result<Vec<(String, Value)>, Failure> {
    let options = ReadOptions { calls: true, ..ReadOptions::default() };
    let read = app::answer(&options, [open_kept(path, None, context.terminal)?]);
    let read = read.map_err(|error| match &error.cause {
        Cause::UnknownFormat(why) => {
            let name = path.display();
            let how = format!("mcp-concord convert {name} --format FORMAT --to mcp-replay -o session.jsonl");
            Failure::Unusable(format!(
                "--from: the format of {name} cannot be detected: {why}; convert it first: {how}"
            ))
        }
        _ => Failure::from(error).of_input(),
    })?;
    let calls: Value = serde_json::from_slice(&read.bytes).unwrap_or_default();
    let call = |call: &Value| Some((call["tool"].as_str()?.to_owned(), call["arguments"].clone()));
    Ok(calls["calls"].as_array().into_iter().flatten().filter_map(call).collect())
}

/// Prints the script: a line for each step.
fn list() -> Result<u8, Failure> {
    let mut out = io::stdout().lock();
    for step in SCRIPT.iter() {
        let [first, last] = step.revisions;
        writeln!(
            out,
            "{:<8} {:<25} {first} to {last}  {}",
            step.part.name(),
            step.name,
            step.tests.join(", ")
        )?;
    }
    Ok(crate::exit::WELL)
}
