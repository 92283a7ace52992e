//! Pages that say what commands print: those of `tests/cmd`, the README and the pages of `docs`.
//!
//! A `console` block is a list of commands for a shell (`$ mcp-concord …`, continued after `> `), each followed by its exit code
//! unless that is 0 (`? 2`), by its whole standard output, and by its standard error. A block of `tests/cmd` runs in a fresh copy
//! of the folder `in` beside its page, and elsewhere in the repository's root. `...` stands for lines and `[..]` for a part of
//! one that do not matter; `[REPO]`, `[HERE]` and `[VERSION]` for the repository, the fresh copy and the program's version.
//! `TRANSCRIPT=check/` runs the pages with this in their path, and `SNAPSHOTS=overwrite` writes what is printed into them.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::python;
use snapbox::Data;
use snapbox::assert::Assert;
use std::cmp::Reverse;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, iter, thread};
use tempfile::TempDir;

/// Begins a block of commands.
const BLOCK: &str = "```console\n";

/// A folder with a link to the program and nothing else: beside the program itself are fuzz targets, one of which is named `diff`.
const ALONE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/program");

#[test]
fn the_pages_say_what_is_printed() {
    fs::create_dir_all(ALONE).unwrap();
    // At once, since another run of these tests may use the folder.
    let link = format!("{ALONE}-{}", std::process::id());
    symlink(env!("CARGO_BIN_EXE_mcp-concord"), &link).unwrap();
    fs::rename(&link, Path::new(ALONE).join("mcp-concord")).unwrap();
    let wanted = env::var("TRANSCRIPT").unwrap_or_default();
    let mut pages = pages();
    assert!(pages.len() > 50, "only {} pages were found", pages.len());
    pages.retain(|page| page.to_string_lossy().contains(&wanted));
    let texts = pages.iter().map(|page| fs::read_to_string(page).unwrap().replace("\r\n", "\n"));
    let texts: Vec<String> = texts.collect();
    // No block needs another, and some of them wait for long.
    let cut = |page: usize| texts[page].split(BLOCK).map(move |text| (page, text, OnceLock::new()));
    let blocks: Vec<(usize, &str, OnceLock<String>)> = (0..pages.len()).flat_map(cut).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((page, text, printed)) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let is_prose = texts[*page].as_ptr() == text.as_ptr();
            let now = || if is_prose { (*text).to_owned() } else { replayed(&pages[*page], text) };
            printed.get_or_init(now);
        }
    };
    thread::scope(|scope| {
        let threads = 4 * thread::available_parallelism().map_or(1, usize::from);
        (0..threads).for_each(|_| _ = scope.spawn(work));
    });
    let mut wrong = Vec::new();
    for (at, page) in pages.iter().enumerate() {
        let printed =
            blocks.iter().filter(|(page, ..)| *page == at).filter_map(|(.., printed)| printed.get());
        let printed = printed.map(String::as_str).collect::<Vec<_>>().join(BLOCK);
        let assert = Assert::new().action_env("SNAPSHOTS").normalize_paths(false);
        if let Err(difference) = assert.try_eq(None, Data::text(printed), Data::read_from(page, None)) {
            wrong.push(difference.to_string());
        }
    }
    assert!(wrong.is_empty(), "{} pages say something else:\n{}", wrong.len(), wrong.join("\n"));
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn root() -> PathBuf {
    package().join("../..").canonicalize().unwrap()
}

/// The pages, the longest first.
fn pages() -> Vec<PathBuf> {
    let below = |folder: PathBuf| walkdir::WalkDir::new(folder).into_iter().map(|it| it.unwrap().into_path());
    let mut pages: Vec<PathBuf> = below(package().join("tests/cmd"))
        .filter(|path| !path.components().any(|part| part.as_os_str() == "in"))
        // In docs, only the pages of commands have examples that are run; they end with the program's own list of options.
        .chain(fs::read_dir(root().join("docs")).unwrap().map(|it| it.unwrap().path()).filter(|path| {
            fs::read_to_string(path).is_ok_and(|text| text.contains("what the program prints of its options"))
        }))
        .chain([root().join("README.md")])
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort_by_key(|page| Reverse(fs::metadata(page).unwrap().len()));
    pages
}

/// A block of commands, and the prose behind it, with what the commands print now.
fn replayed(page: &Path, text: &str) -> String {
    let is_ours = page.starts_with(package().join("tests/cmd"));
    let place = Workdir::beside(page);
    let end = text.find("\n```").map_or(text.len(), |at| at + 1);
    let (mut out, mut lines) = (String::new(), text[..end].lines().peekable());
    while let Some(line) = lines.next() {
        out += &format!("{line}\n");
        let Some(first) = line.strip_prefix("$ ") else { continue };
        let mut command = first.to_owned();
        while let Some(more) = lines.next_if(|line| line.starts_with("> ") || *line == ">") {
            out += &format!("{more}\n");
            command += &format!("\n{}", more.get(2..).unwrap_or_default());
        }
        let before: Vec<&str> = iter::from_fn(|| lines.next_if(|line| !line.starts_with("$ "))).collect();
        // Elsewhere, other programs are shown that are not there.
        if is_ours || command.starts_with("mcp-concord ") {
            out += &place.run(&command, is_ours);
            out += if before.last() == Some(&"") { "\n" } else { "" };
        } else {
            out.extend(before.iter().map(|line| format!("{line}\n")));
        }
    }
    out + &text[end..]
}

/// Where the commands of a block run.
struct Workdir {
    at: PathBuf,
    _copy: Option<TempDir>,
}

impl Workdir {
    fn beside(page: &Path) -> Self {
        let given = page.with_file_name("in");
        if !given.is_dir() {
            return Self { at: root(), _copy: None };
        }
        let copy = tempfile::tempdir().unwrap();
        let copied = Command::new("cp").arg("-R").arg(given.join(".")).arg(copy.path()).status().unwrap();
        assert!(copied.success());
        Self { at: copy.path().canonicalize().unwrap(), _copy: Some(copy) }
    }

    /// The exit code, where it belongs on the page, and all that is printed.
    fn run(&self, command: &str, is_ours: bool) -> String {
        let python = Path::new(python()).parent().unwrap();
        let path = [Path::new(ALONE), &package().join("tests/cmd/bin"), python];
        let path = path.map(|it| it.display().to_string()).join(":");
        let ran = Command::new("sh")
            .args(["-c", command])
            .env("PATH", format!("{path}:{}", env::var("PATH").unwrap()))
            .env("REPO", root())
            .env("NO_COLOR", "1")
            .env("LC_ALL", "C.UTF-8")
            .env("COLUMNS", "100")
            // What is started a thousand times is compiled once.
            .env("PYTHONPYCACHEPREFIX", concat!(env!("CARGO_TARGET_TMPDIR"), "/python"))
            .env_remove("PYTHONDONTWRITEBYTECODE")
            .current_dir(&self.at)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
        assert!(!printed.contains("panicked at"), "{command}: {printed}");
        let printed = printed.trim_end();
        let mut out = if printed.is_empty() { String::new() } else { format!("{printed}\n") };
        if is_ours {
            let code = ran.status.code().map_or_else(|| ran.status.to_string(), |code| code.to_string());
            out = if code == "0" { out } else { format!("? {code}\n{out}") };
            if self._copy.is_some() {
                out = out.replace(&self.at.display().to_string(), "[HERE]");
            }
            out = out.replace(&root().display().to_string(), "[REPO]");
            out = out.replace(env!("CARGO_PKG_VERSION"), "[VERSION]");
        }
        out
    }
}
