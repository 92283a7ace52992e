//! `wrap` and `unwrap`: `record` before a server in the configuration of a client, and out of it again.

use super::context::{CommandContext, Failure};
use super::record;
use super::small_file;
use crate::client_config::{ServerEntry, Syntax, is_own, servers};
use crate::exit;
use clap::{Args as _, FromArgMatches as _};
use std::env;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf, absolute};
use transcript::nearest::nearest;
use wire::files::{self, Access, may_write, replace};

/// Clients, and where each has its servers: in a project, and then for the user. `~` is the user's folder, and `=` that in
/// which programs keep their settings.
const CLIENTS: [(&str, &[&str]); 5] = [
    ("claude-desktop", &["=/Claude/claude_desktop_config.json"]),
    ("claude-code", &[".mcp.json", "~/.claude.json"]),
    ("cursor", &[".cursor/mcp.json", "~/.cursor/mcp.json"]),
    ("vscode", &[".vscode/mcp.json", "=/Code/User/mcp.json"]),
    ("codex", &[".codex/config.toml", "~/.codex/config.toml"]),
];

/// Records every session of a server of your client: puts `record` before its command in the client's configuration.
///
/// Only the command changes, in place: comments, order and white space stay, and `unwrap` gives back the same bytes. Restart
/// the client to begin recording.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/wrap.txt"))]
pub(crate) struct WrapArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// Where the sessions go; `{time}` and `{pid}` are filled in [default: mcp-recordings/SERVER-{time}-{pid}.jsonl in this
    /// folder].
    #[arg(short, long = "output", value_name = "FILE")]
    out: Option<PathBuf>,
    /// How the client starts this program [default: by its path].
    #[arg(long, value_name = "PATH")]
    program: Option<String>,
    /// Options of `record`, added to `--redact-preset common` unless one of them names a preset; `none` is one.
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// Takes `record` out of a client's configuration again, so that it is as it was before `wrap`, byte for byte.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/unwrap.txt"))]
pub(crate) struct UnwrapArgs {
    #[command(flatten)]
    place: PlaceArgs,
}

#[derive(Debug, clap::Args)]
struct PlaceArgs {
    /// The client: claude-desktop, claude-code, cursor, vscode or codex, whose configuration in this folder comes before that
    /// of the user; or the configuration itself.
    #[arg(value_name = "CLIENT|FILE")]
    config: String,
    /// The server's name there; without it the servers are listed.
    server: Option<String>,
}

/// A configuration that was found.
struct Config {
    path: PathBuf,
    text: String,
    syntax: Syntax,
    servers: Vec<ServerEntry>,
}

pub(crate) fn wrap(args: &WrapArgs, context: CommandContext) -> Result<u8, Failure> {
    let Some((name, mut config, _turn)) = found(&args.place, |_| true, context)? else {
        return Ok(exit::WELL);
    };
    let out = args.out.clone().unwrap_or_else(|| {
        let plain = name.replace(|char: char| !char.is_alphanumeric() && !"-_.".contains(char), "_");
        PathBuf::from(format!("mcp-recordings/{plain}-{{time}}-{{pid}}.jsonl"))
    });
    may_write(&wire::record::file_name(&out)?, true)?;
    let out = absolute(&out).map_err(|error| Failure::unwritable(&out, &error))?;
    let program = match &args.program {
        Some(program) => program.clone(),
        None => as_text(&env::current_exe()?)?,
    };
    let mut words = vec![program, "record".to_owned(), "-o".to_owned(), as_text(&out)?];
    // Other options do not ask for secrets to be kept.
    if !args.options.iter().any(|option| option.starts_with("--redact-preset")) {
        words.extend(["--redact-preset", "common"].map(str::to_owned));
    }
    words.extend_from_slice(&args.options);
    words.push("--".to_owned());
    let called = record::Args::augment_args(clap::Command::new("record")).no_binary_name(true);
    let called = called.try_get_matches_from(words[2..].iter().map(String::as_str).chain([&*name]));
    let called = called.and_then(|called| record::Args::from_arg_matches(&called)).map_err(|error| {
        let why = error.to_string();
        why.lines()
            .map_while(|line| Some(line.trim()).filter(|it| !it.is_empty()))
            .collect::<Vec<_>>()
            .join(" ")
    });
    called.and_then(|called| called.refuse_unusable()).map_err(|why| {
        format!("`record` could not start with these options: {}", why.trim_start_matches("error: "))
    })?;
    if args.options.iter().any(|option| option == "--") {
        return Err(
            "the options of `record` cannot contain another `--`, after which the command would begin".into(),
        );
    }
    if !is_own(&words[0]) {
        return Err("--program: its name must begin with mcp-concord, or `unwrap` would not find it".into());
    }
    let syntax = config.syntax;
    edit(&mut config, &name, |server, text| {
        let url = server.url.as_ref().filter(|_| !server.is_started());
        match (url, server.is_wrapped()) {
            (Some(url), _) => Err(format!(
                "`{name}` is a server over HTTP, which has no command to wrap: run `mcp-concord record -o session.har --listen \
                 127.0.0.1:8080 --to {url}`, and write http://127.0.0.1:8080/ for its URL"
            )),
            (None, true) => Err(format!("`{name}` is recorded already; `mcp-concord unwrap` undoes that")),
            (None, false) if server.is_recorder() => {
                Err(format!("`{name}` is recorded already: its command is `mcp-concord record`"))
            }
            (None, false) => {
                let wrapped =
                    server.wrapped(text, &words).ok_or_else(|| format!("`{name}` has no command"))?;
                let again = servers(&wrapped, syntax).unwrap_or_default();
                if !again.iter().any(|it| it.unwrapped(&wrapped).is_some_and(|back| back == text)) {
                    return Err(format!(
                        "`unwrap` could not restore `{name}`, whose layout is unusual: put `record` before its command by hand"
                    ));
                }
                Ok(wrapped)
            }
        }
    })?;
    if let Some(folder) = out.parent() {
        fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder, &error))?;
    }
    config.write()?;
    let (path, out) = (config.path.display(), out.display());
    context.terminal.note(&format!("{path}: `{name}` will be recorded from its next start, to {out}"));
    Ok(exit::WELL)
}

pub(crate) fn unwrap(args: &UnwrapArgs, context: CommandContext) -> Result<u8, Failure> {
    let Some((name, mut config, _turn)) = found(&args.place, ServerEntry::is_wrapped, context)? else {
        return Ok(exit::WELL);
    };
    edit(&mut config, &name, |server, text| {
        server
            .unwrapped(text)
            .ok_or_else(|| format!("`{name}` is not recorded: `record` is not before its command"))
    })?;
    config.write()?;
    context.terminal.note(&format!("{}: `{name}` is restored", config.path.display()));
    Ok(exit::WELL)
}

/// The configuration that has the server, if possible one that is `wanted`, and the turn to change it. Without a server, its
/// servers are printed.
fn found(
    args: &PlaceArgs,
    wanted: fn(&ServerEntry) -> bool,
    context: CommandContext,
) -> Result<Option<(String, Config, Option<File>)>, Failure> {
    let known = CLIENTS.iter().find(|(client, _)| *client == args.config);
    let paths: Vec<PathBuf> = match known {
        Some((_, places)) => places.iter().filter_map(|place| filled_in(place)).collect(),
        None => vec![PathBuf::from(&args.config)],
    };
    let mut configs = Vec::new();
    for path in paths.iter().filter(|path| path.exists()) {
        configs.push(Config::read(path)?);
    }
    if configs.is_empty() {
        let looked: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let clients = CLIENTS.map(|(name, _)| name).join(", ");
        return Err(Failure::Unusable(match known {
            Some((client, _)) => format!("{client} has no configuration here: {}", looked.join(" and ")),
            None => format!("there is no file {}; the clients are {clients}", args.config),
        }));
    }
    let Some(name) = &args.server else {
        for config in &configs {
            config.list(context)?;
        }
        return Ok(None);
    };
    let names: Vec<&str> =
        configs.iter().flat_map(|it| &it.servers).map(|server| server.name.as_str()).collect();
    let hint = match nearest(name, names.iter().copied()).first() {
        Some(near) => format!("; did you mean `{near}`?"),
        None if names.is_empty() => "; it has no servers".to_owned(),
        None => format!("; it has {}", names.join(", ")),
    };
    let looked: Vec<String> = configs.iter().map(|config| config.path.display().to_string()).collect();
    let has = |config: &Config, wanted: fn(&ServerEntry) -> bool| {
        config.servers.iter().any(|server| server.name == *name && wanted(server))
    };
    let config =
        configs.iter().find(|it| has(it, wanted)).or_else(|| configs.iter().find(|it| has(it, |_| true)));
    let missing = || Failure::Unusable(format!("{} has no server `{name}`{hint}", looked.join(" and ")));
    let Config { path, .. } = config.ok_or_else(missing)?;
    let turn = files::turn(path).map_err(|error| Failure::unwritable(path, &error))?;
    // Who had the turn before may have changed it.
    Ok(Some((name.clone(), Config::read(path)?, turn)))
}

/// A path as a configuration can hold it.
fn as_text(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| Failure::Unusable(format!("{} is not UTF-8, as configurations are", path.display())))
}

/// Changes every server of this name that can be changed: Claude Code may have one for each project.
fn edit(
    config: &mut Config,
    name: &str,
    change: impl Fn(&ServerEntry, &str) -> Result<String, String>,
) -> Result<(), Failure> {
    let gone = format!("{} has no server `{name}` any more", config.path.display());
    let (mut is_changed, mut refused) = (false, Err(gone.into()));
    // From the last, as what is before a change stays where it is.
    for server in config.servers.iter().rev().filter(|server| server.name == name) {
        match change(server, &config.text) {
            Ok(changed) => (config.text, is_changed) = (changed, true),
            Err(why) => {
                refused = Err(format!("{}: {why}", config.path.display()).into());
            }
        }
    }
    if is_changed { Ok(()) } else { refused }
}

impl Config {
    fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        if !path.is_file() {
            return Err(format!("{shown} is not a file"));
        }
        let text = small_file::written(path).map_err(|error| format!("{shown} cannot be read: {error}"))?;
        let is_toml = path.extension().is_some_and(|ending| ending == "toml");
        let syntax = if is_toml { Syntax::Toml } else { Syntax::Json };
        let servers = servers(&text, syntax).map_err(|why| format!("{shown} cannot be used: {why}"))?;
        Ok(Self { path: path.to_owned(), text, syntax, servers })
    }

    fn list(&self, context: CommandContext) -> io::Result<()> {
        let path = self.path.display();
        if self.servers.is_empty() {
            let tables = match self.syntax {
                Syntax::Json => "`mcpServers`, `servers`, `context_servers` or `mcp`",
                Syntax::Toml => "`mcp_servers`",
            };
            context.terminal.note(&format!("{path} has no servers in {tables}"));
        }
        for server in &self.servers {
            let how = match &server.url {
                _ if server.is_recorder() => "recorded",
                Some(_) if !server.is_started() => "over HTTP",
                _ => "not recorded",
            };
            writeln!(io::stdout(), "{path}: `{}`: {how}", server.name)?;
        }
        Ok(())
    }

    fn write(&self) -> Result<(), Failure> {
        // To rename over it would go well where nobody may write into it.
        if fs::metadata(&self.path).is_ok_and(|there| there.permissions().readonly()) {
            return Err(format!("{} is read-only", self.path.display()).into());
        }
        replace(&self.path, Access::Usual, |out| out.write_all(self.text.as_bytes()))
            .map_err(|error| Failure::unwritable(&self.path, &error))
    }
}

/// A place of the table on this machine.
fn filled_in(place: &str) -> Option<PathBuf> {
    let below = |folder: PathBuf| folder.join(&place[2..]);
    match place.as_bytes()[0] {
        b'~' => env::home_dir().map(below),
        b'=' if cfg!(windows) => env::var_os("APPDATA").map(PathBuf::from).map(below),
        b'=' if cfg!(target_os = "macos") => {
            env::home_dir().map(|home| below(home.join("Library/Application Support")))
        }
        b'=' => {
            let own = env::var_os("XDG_CONFIG_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
            own.or_else(|| Some(env::home_dir()?.join(".config"))).map(below)
        }
        _ => Some(PathBuf::from(place)),
    }
}
