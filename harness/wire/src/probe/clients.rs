//! Checks a live client: starts it once for each part of the server's script, and records each session.
//!
//! Over stdio the client starts the server itself, which is this program behind `record`; over HTTP the server is that program
//! behind a bridge, and a proxy before it records.

use super::client::FLOOD;
use super::script::Part;
use super::server_script::{SERVER_SCRIPT, Seen, ServerAct, read_seen};
use super::session::Archive;
use crate::bridge::{Bridge, Conduct};
use crate::proxy::Proxy;
use crate::stdio::group::Exit;
use crate::stdio::{Stderr, start};
use crate::{AllowedHosts, Notify, Quiet, StartError, interrupt};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};
use verdict::plain::counted;

/// How long what a client started may go on after it: its server writes the end of the recording.
const AFTERWARDS: Duration = Duration::from_secs(3);

/// In how many bytes of a recording its last line is looked for.
const TAIL: u64 = 1 << 10;

/// How many bytes of a client's standard error are kept.
const LAST_WORDS: usize = 4 << 10;

/// A client that is probed, and how.
#[derive(Debug)]
pub struct Clients {
    /// The client's command; none where clients come by themselves until this process is asked to end.
    pub command: Vec<String>,
    /// Where to listen for it over HTTP, and for which hosts; over stdio nowhere.
    pub listen: Option<(SocketAddr, AllowedHosts)>,
    /// This program.
    pub program: String,
    /// How long an answer is waited for.
    pub patience: Duration,
    /// How long the client may run, each time.
    pub time: Duration,
    /// The parts of the script; none for all.
    pub parts: Vec<Part>,
    /// The folder for the recordings.
    pub folder: PathBuf,
}

/// A part of the script that was played.
#[derive(Debug)]
pub struct PlayedPart {
    /// The part.
    pub part: Part,
    /// Its recordings.
    pub recordings: Vec<PathBuf>,
    /// What was seen of each step, in the order of the script.
    pub seen: Vec<Seen>,
    /// It wrote more than is listened to.
    pub flooded: bool,
    /// How the client ended; none where it had to be killed.
    pub exit: Option<Exit>,
    /// Its last words on its standard error.
    pub last_words: String,
}

impl Clients {
    /// Plays the parts.
    ///
    /// # Errors
    /// Where the client cannot be started, the address cannot be used, or a recording cannot be written.
    pub fn run(&self, notify: &Arc<dyn Notify>) -> Result<Vec<PlayedPart>, StartError> {
        let mut played = Vec::new();
        let is_asked = |part: &Part| match self.parts.is_empty() {
            true => part.is_over(self.listen.is_some()),
            false => self.parts.contains(part),
        };
        for part in Part::OF_SERVER.into_iter().filter(is_asked) {
            if interrupt::requested() {
                break;
            }
            played.push(self.play(part, notify)?);
        }
        Ok(played)
    }

    fn play(&self, part: Part, notify: &Arc<dyn Notify>) -> Result<PlayedPart, StartError> {
        let unusable = |error: io::Error| StartError::Unusable(format!("{}: {error}", self.folder.display()));
        let path = |ending: &str| self.folder.join(format!("{}{ending}", part.name()));
        for old in self.recordings(part).map_err(unusable)?.into_iter().chain([path("seen")]) {
            let _ = fs::remove_file(old);
        }
        let words =
            |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
        let patience = self.patience.as_secs_f64().to_string();
        let [part_name, seen] = [part.name(), &words(&path("seen"))];
        let options =
            ["-q", "probe", "--as", "server", "--part", part_name, "--timeout", &patience, "--seen", seen];
        let server =
            [&[&*self.program][..], &options].concat().into_iter().map(str::to_owned).collect::<Vec<_>>();
        let (mut is_resumed, mut strayed) = (false, 0);
        let (exit, last_words) = match &self.listen {
            None => {
                let recording = words(&path(".jsonl"));
                let before = [&self.program, "-q", "record", "-o", &recording, "--"].map(str::to_owned);
                let words = [&before[..], &server].concat();
                let started = in_a_word(&path(".sh"), words)
                    .map_err(unusable)
                    .and_then(|server| self.start(part, &server, "{server}"));
                let _ = fs::remove_file(path(".sh"));
                started?
            }
            Some((at, hosts)) => {
                let mut proxy = Proxy::for_stdio(*at).map_err(StartError::Unusable)?;
                let conduct = Conduct { is_lenient: true, breaks: part == Part::Streams };
                let bridge = Bridge::start(&server, false, conduct, Box::new(Quiet))?;
                (proxy.bridge, proxy.hosts) = (Some(Arc::clone(&bridge)), hosts.clone());
                let archive = Archive::before(proxy, &path(".har"), notify)?;
                let url = format!("{}{}", archive.target.origin(), archive.target.path());
                let ended = if self.command.is_empty() {
                    notify.note(&format!("listening at {url}; press Ctrl-C to stop"));
                    interrupt::wait(Duration::MAX, || false);
                    Ok((None, String::new()))
                } else {
                    self.start(part, &[url], "{url}")
                };
                (is_resumed, strayed) = (bridge.is_resumed(), bridge.strayed());
                bridge.close();
                let kept = archive.close();
                ended.and_then(|ended| kept.map(|()| ended))?
            }
        };
        let (recordings, mut noted) =
            (self.recordings(part).map_err(unusable)?, read_seen(&path("seen")).map_err(unusable)?);
        let _ = fs::remove_file(path("seen"));
        // What was seen last of a step counts.
        noted.reverse();
        let seen = SERVER_SCRIPT.iter().filter(|step| step.part == part).map(|step| {
            let found = noted.iter().find(|seen| seen.step == step.name).cloned();
            let was_left = !is_resumed && matches!(step.act, ServerAct::Break);
            let unreached = |why: &str| Seen {
                step: step.name.to_owned(),
                reached: false,
                unanswered: false,
                text: why.to_owned(),
            };
            let went_on = matches!(step.act, ServerAct::Leave) && strayed > 0;
            match found {
                Some(seen) if seen.reached && was_left => {
                    unreached("the stream broke off, and the client did not resume it")
                }
                Some(seen) if !seen.reached && went_on => {
                    let sent = counted(strayed, "message");
                    let text =
                        format!("the client sent {sent} in the session that is over, and began no other");
                    Seen { reached: true, text, ..seen }
                }
                Some(seen) => seen,
                None => unreached("the client did not get that far"),
            }
        });
        let flooded = recordings.iter().any(|path| fs::metadata(path).is_ok_and(|file| file.len() > FLOOD));
        Ok(PlayedPart { part, recordings, seen: seen.collect(), flooded, exit, last_words })
    }

    /// Runs the client with the server in the place of this word, or behind all; how it ended, unless it had to be killed, and
    /// its last words.
    fn start(
        &self,
        part: Part,
        server: &[String],
        place: &str,
    ) -> Result<(Option<Exit>, String), StartError> {
        let mut words = Vec::new();
        for word in &self.command {
            match word == place {
                true => words.extend_from_slice(server),
                false => words.push(word.replace(place, &shell_words::join(server))),
            }
        }
        if !self.command.iter().any(|word| word.contains(place)) {
            words.extend_from_slice(server);
        }
        let mut client = start(&words, [Stdio::null(), Stdio::null(), Stdio::piped()])?;
        let stderr = client.leader().stderr.take().map(|pipe| Stderr::keep(pipe, 0, LAST_WORDS));
        let ends = interrupt::wait(self.time, || client.exited());
        let exit = client.exit().filter(|_| ends);
        // The server ends with its client, and so does the recorder before it.
        let is_open = || self.recordings(part).is_ok_and(|found| !found.iter().all(|path| is_ended(path)));
        if self.listen.is_none() {
            interrupt::wait(AFTERWARDS, || {
                let is_open = is_open();
                if is_open && !ends {
                    client.kill();
                }
                !is_open
            });
        }
        Ok((exit, stderr.map(|stderr| stderr.last_words()).unwrap_or_default()))
    }

    /// The recordings of a part: a client may start its server more than once.
    fn recordings(&self, part: Part) -> io::Result<Vec<PathBuf>> {
        let is_one = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let Some(rest) = name.strip_prefix(part.name()) else { return false };
            let number = rest.strip_suffix(".jsonl").or(rest.strip_suffix(".har"));
            number.is_some_and(|number| {
                let digits = number.strip_prefix('-').unwrap_or("1");
                (number.is_empty() || number.starts_with('-')) && digits.parse::<u32>().is_ok()
            })
        };
        let mut found: Vec<PathBuf> =
            fs::read_dir(&self.folder)?.filter_map(|entry| Some(entry.ok()?.path())).filter(is_one).collect();
        found.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
        Ok(found)
    }
}

/// A command as one word, a script: clients take the options of a server's command for their own.
fn in_a_word(script: &Path, command: Vec<String>) -> io::Result<Vec<String>> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::write(script, format!("#!/bin/sh\nexec {}\n", shell_words::join(command)))?;
        fs::set_permissions(script, fs::Permissions::from_mode(0o700))?;
        Ok(vec![std::path::absolute(script)?.display().to_string()])
    }
    #[cfg(not(unix))]
    {
        let _ = script;
        Ok(command)
    }
}

/// Whether a recording has its last line.
fn is_ended(recording: &Path) -> bool {
    let tail = || -> io::Result<Vec<u8>> {
        let mut file = File::open(recording)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut tail = Vec::new();
        file.take(TAIL).read_to_end(&mut tail)?;
        Ok(tail)
    };
    tail().is_ok_and(|tail| memchr::memmem::find(&tail, b"\"type\":\"end\"").is_some())
}
