//! `record --view`: what passes, in lines on the standard error, while it passes.
//!
//! A person reads slowly, so that the recording itself is read again as it grows, and judged by `check`; a tenth of the time at
//! most goes into that, and 64 MiB are the most that is looked at.

use crate::terminal::{Terminal, cut};
use app::{CheckOptions, Recording, check};
use formats::{Format, Input, ReadError, ReadOptions, Tolerance, apart};
use rules::RuleVerdict;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use transcript::contract::Contract;
use transcript::json::Json;
use transcript::meaning::EventKind;
use transcript::message::Message;
use transcript::session::{Content, Entry, Side};
use wire::record;

/// The least time between two looks, and how many times as long as a look took.
const PAUSE: Duration = Duration::from_millis(200);
const SHARE: u32 = 10;

/// The largest recording that is looked at.
const MOST: u64 = 64 << 20;

/// A request is reported that waits for so long, and again after twice that, in milliseconds.
const HANGS: i64 = 5_000;

/// How much of a message is shown, in characters.
const SHOWN: usize = 120;

/// A recording that somebody looks at.
pub(super) struct View {
    over: Sender<()>,
    looking: JoinHandle<()>,
}

impl View {
    /// Looks at a recording from now on.
    pub(super) fn start(path: &Path, format: &'static Format, terminal: Terminal) -> Self {
        let mut viewer = Viewer::new(path, format, terminal);
        let (over, is_over) = channel();
        let looking = thread::spawn(move || {
            let mut pause = PAUSE;
            while let Err(RecvTimeoutError::Timeout) = is_over.recv_timeout(pause) {
                let begun = Instant::now();
                viewer.look();
                pause = PAUSE.max(begun.elapsed() * SHARE);
            }
            viewer.look();
        });
        Self { over, looking }
    }

    /// Shows what is left, once all is written.
    pub(super) fn finish(self) {
        drop(self.over);
        let _ = self.looking.join();
    }
}

struct Viewer {
    path: PathBuf,
    format: &'static Format,
    terminal: Terminal,
    size: u64,
    /// How often each message was shown: a log of exchanges puts some between others.
    shown: HashMap<(Option<Side>, String), usize>,
    found: HashSet<String>,
    open: Open,
}

/// Requests without an answer, by their number: what they are, when they were sent, and after how long to say so.
type Open = BTreeMap<usize, (String, i64, i64)>;

/// How far one look has come.
struct Look {
    contract: Contract,
    /// What each message calls, and when it was sent.
    events: Vec<(Option<String>, Option<i64>)>,
    seen: HashMap<(Option<Side>, String), usize>,
    open: Open,
}

impl Viewer {
    fn new(path: &Path, format: &'static Format, terminal: Terminal) -> Self {
        let (path, shown, found) = (path.to_owned(), HashMap::new(), HashSet::new());
        Self { path, format, terminal, size: 0, shown, found, open: BTreeMap::new() }
    }

    fn look(&mut self) {
        let size = fs::metadata(&self.path).map_or(0, |file| file.len());
        if size > MOST {
            if std::mem::replace(&mut self.size, u64::MAX) != u64::MAX {
                self.terminal
                    .note("the recording has more than 64 MiB; the view ends here, and recording continues");
            }
            return;
        }
        if size != self.size
            && let Ok(bytes) = fs::read(&self.path)
        {
            self.size = size;
            // The last line may be half there.
            let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            self.read(if self.format.carries.exchanges { &bytes } else { &bytes[..end] });
        }
        self.hanging();
    }

    fn read(&mut self, bytes: &[u8]) {
        // An archive that is just being written is whole the next time.
        let _ = self.messages(bytes);
        // The recording itself is not at its end.
        let (format, profile) = (Some(self.format.name.to_owned()), "session".to_owned());
        let options = CheckOptions { format, profile, ..CheckOptions::default() };
        let Ok(checked) = check(&mut Recording::new("", bytes), &options) else { return };
        for line in &checked.file.lines {
            let level = match line.verdict {
                RuleVerdict::Fail => "error",
                RuleVerdict::Warn => "warning",
                _ => continue,
            };
            let text = format!("{level}[{}]: {} (by the {})", line.rule, line.message, line.party);
            if self.found.insert(text.clone()) {
                self.terminal.line(&format!("  {text}"));
            }
        }
    }

    /// Shows what is new of the messages, and, like `check`, goes on behind one that `read` rejects.
    fn messages(&mut self, mut bytes: &[u8]) -> Result<(), ReadError> {
        let options = ReadOptions::new(Tolerance::Faults);
        let contract = Contract::by_session().reusing();
        let mut look = Look { contract, events: Vec::new(), seen: HashMap::new(), open: BTreeMap::new() };
        self.format.entries(&mut Input::new(&mut bytes)?, options, &mut |entry| {
            apart(&entry, look.contract.revision(&entry), options, &mut |entry| {
                self.entry(&mut look, entry);
                Ok(())
            })
        })?;
        self.open = look.open;
        Ok(())
    }

    fn entry(&mut self, look: &mut Look, entry: &Entry<'_>) {
        let (text, said) = match &entry.content {
            Content::Message(message) => (message.text(), self.message(look, entry, message)),
            Content::Noise(noise) => (&*noise.text, cut(&noise.text, SHOWN)),
            _ => {
                // An exchange shows whose its messages are.
                let _ = look.contract.take(entry);
                return;
            }
        };
        let times = look.seen.entry((entry.side, text.to_owned())).or_insert(0);
        *times += 1;
        let shown = self.shown.entry((entry.side, text.to_owned())).or_insert(0);
        if *times > *shown {
            *shown = *times;
            let arrow = if entry.side == Some(Side::Client) { "→" } else { "←" };
            let time = entry.time.map(formats::time::write).unwrap_or_default();
            self.terminal.line(&format!("{} {arrow} {said}", time.get(11..23).unwrap_or_default()));
        }
    }

    fn message(&self, look: &mut Look, entry: &Entry<'_>, message: &Message<'_>) -> String {
        // A call is none while another one has its id.
        let event = look.contract.take(entry).ok().flatten();
        let asked = event.as_ref().and_then(|event| usize::try_from(event.answers?).ok());
        let request = asked.and_then(|at| look.events.get(at));
        let what = request.map_or_else(|| name(message), |(name, _)| name.clone());
        let mut what = what.unwrap_or_else(|| "an unknown request".to_owned());
        let took = entry.time.zip(request.and_then(|(_, time)| *time));
        let took = took.map(|(now, then)| format!(" after {} ms", now - then)).unwrap_or_default();
        if let Some(id) = message.id().key() {
            what += &format!(", id {}", String::from_utf8_lossy(&id));
        }
        let (kind, content) = match EventKind::new(message) {
            EventKind::Result => ("result of ", message.outcome()),
            EventKind::Error => ("error of ", message.outcome()),
            _ => ("", message.params()),
        };
        let content = content.map(|it| format!(": {}", cut(it.text(), SHOWN))).unwrap_or_default();
        let said = format!("{kind}{what}{took}{content}");
        if let Some(event) = event {
            match asked {
                Some(asked) => drop(look.open.remove(&asked)),
                None if message.method().is_some() && event.id.is_some() => {
                    let number = look.events.len();
                    let since = entry.time.unwrap_or_else(record::now);
                    let after = self.open.get(&number).map_or(HANGS, |open| open.2);
                    look.open.insert(number, (what, since, after));
                }
                None => {}
            }
            look.events.push((name(message), entry.time));
        }
        said
    }

    fn hanging(&mut self) {
        let now = record::now();
        for (what, since, after) in self.open.values_mut() {
            if now - *since >= *after {
                self.terminal.line(&format!("  {what}: no answer for {} s", (now - *since) / 1000));
                *after *= 2;
            }
        }
    }
}

/// The tool that a message calls, or its method.
fn name(message: &Message<'_>) -> Option<String> {
    let method = message.method()?.to_str()?.into_owned();
    let tool = message.params().and_then(|params: Json<'_>| params.member("name")?.as_text());
    let tool = tool.filter(|_| method == "tools/call").and_then(|tool| Some(format!(" {}", tool.to_str()?)));
    Some(method + &tool.unwrap_or_default())
}
