//! The build script: packs the case directories into one file, so that the binary can embed them.
//!
//! Nothing is compressed or parsed: a few thousand small files become one `include_bytes!`, which costs a build
//! next to nothing. The loader finds out whether they are any good.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = |name: &str| env::var_os(name).map(PathBuf::from).ok_or(io::ErrorKind::NotFound);
    let (root, out) = (folder("CARGO_MANIFEST_DIR")?, folder("OUT_DIR")?);
    let (mut pack, mut index) = (Vec::new(), String::from("static INDEX: &[(&str, usize, usize)] = &[\n"));
    let mut files = Vec::new();
    find(&root, &mut files)?;
    let mut named: Vec<(String, PathBuf)> = Vec::new();
    for file in files {
        named.push((name(&root, &file)?, file));
    }
    named.sort();
    for (name, file) in named {
        let start = pack.len();
        pack.extend_from_slice(&fs::read(&file)?);
        let _ = writeln!(index, "    ({name:?}, {start}, {}),", pack.len());
    }
    index.push_str("];\n");
    fs::write(out.join("pack"), pack)?;
    fs::write(out.join("index.rs"), index)?;
    // Cargo looks at everything below this folder, so that a new case is seen too.
    writeln!(io::stdout(), "cargo::rerun-if-changed=.")
}

/// The files of every folder with a `case.toml`. Folders that tools leave behind are not looked into.
fn find(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()? {
            kind if kind.is_dir() => folders.push(entry.path()),
            kind if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    if folder.join("CACHEDIR.TAG").is_file() {
        return Ok(());
    }
    if folder.join("case.toml").is_file() {
        found.append(&mut files);
    }
    let leftover = |name: &str| name.starts_with('.') || name == "node_modules";
    for folder in folders {
        if !folder.file_name().and_then(|name| name.to_str()).is_some_and(leftover) {
            find(&folder, found)?;
        }
    }
    Ok(())
}

/// A path from the root, with `/`.
fn name(root: &Path, file: &Path) -> io::Result<String> {
    let parts: Option<Vec<&str>> =
        file.strip_prefix(root).unwrap_or(file).iter().map(|part| part.to_str()).collect();
    parts
        .map(|parts| parts.join("/"))
        .ok_or_else(|| io::Error::other(format!("{} is no UTF-8", file.display())))
}
