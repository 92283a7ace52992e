//! The build script: packs the files of all cases, one compressed file for each topic, so that a program can embed them.
//!
//! Nothing is parsed but archives. The loader finds out whether the cases are any good.

#[expect(unreachable_pub, reason = "the library publishes the same file")]
mod archive;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// How hard to compress, of 0 to 10: the files are a twentieth of their length at 8, and as good as that at 10.
const LEVEL: u8 = 8;

/// The files of the cases by their paths from the root, with `/`.
type Files = BTreeMap<String, Vec<u8>>;

fn main() -> io::Result<()> {
    let folder = |name: &str| env::var_os(name).map(PathBuf::from).ok_or(io::ErrorKind::NotFound);
    let (root, out) = (folder("CARGO_MANIFEST_DIR")?, folder("OUT_DIR")?);
    let mut files = Files::new();
    find(&root, "", &mut files)?;
    let mut topics: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    for (path, bytes) in &files {
        let topic = topics.entry(path.split('/').next().unwrap_or_default()).or_default();
        for part in [path.as_bytes(), bytes] {
            let length = u32::try_from(part.len()).map_err(io::Error::other)?;
            topic.extend(length.to_le_bytes());
            topic.extend(part);
        }
    }
    let mut code = format!("static TOPICS: [Topic; {}] = [\n", topics.len());
    for (topic, bytes) in topics {
        fs::write(out.join(topic), miniz_oxide::deflate::compress_to_vec(&bytes, LEVEL))?;
        let _ = writeln!(code, "    Topic::new({topic:?}, include_bytes!({:?})),", out.join(topic));
    }
    fs::write(out.join("topics.rs"), code + "];\n")?;
    // Cargo looks at everything below this folder, so that a new case is seen too.
    writeln!(io::stdout(), "cargo::rerun-if-changed=.")
}

/// The files of every folder with a `case.toml`, and those in archives. Folders that tools leave behind are not looked into.
fn find(folder: &Path, name: &str, found: &mut Files) -> io::Result<()> {
    if folder.join("CACHEDIR.TAG").is_file() {
        return Ok(());
    }
    let is_case = folder.join("case.toml").is_file();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, file) = (entry.path(), entry.file_name());
        let file =
            file.to_str().ok_or_else(|| io::Error::other(format!("{} is not UTF-8", path.display())))?;
        let kind = entry.file_type()?;
        if kind.is_dir() && !file.starts_with('.') && file != "node_modules" {
            find(&path, &format!("{name}{file}/"), found)?;
        } else if kind.is_file() && is_case {
            found.insert(format!("{name}{file}"), fs::read(&path)?);
        } else if kind.is_file() && file.ends_with(".txtar") {
            let bytes = fs::read(&path)?;
            let wrong = |line| io::Error::other(format!("{}:{line}: a file of no case", path.display()));
            let files = archive::files(&bytes).map_err(wrong)?;
            found.extend(files.into_iter().map(|(file, bytes)| (format!("{name}{file}"), bytes.to_vec())));
        }
    }
    Ok(())
}
