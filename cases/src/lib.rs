//! The suite that comes with mcp-concord, embedded for programs that must run from any folder.
//!
//! The bytes of every file of every case, those in archives too. They are compressed by topic, and a topic is unpacked when one
//! of its files is first asked for.

pub mod archive;

use std::sync::OnceLock;

/// A file of a case: its path from the root of the suite, with `/`, and its bytes.
pub type File = (&'static str, &'static [u8]);

/// Every file of every case, ordered by path.
pub fn files() -> impl Iterator<Item = File> {
    TOPICS.iter().flat_map(Topic::files)
}

/// The files of the cases of one topic, such as `ids`, ordered by path.
pub fn files_of(topic: &str) -> impl Iterator<Item = File> {
    TOPICS.iter().filter(move |it| it.name == topic).flat_map(Topic::files)
}

/// The cases of a topic.
struct Topic {
    name: &'static str,
    packed: &'static [u8],
    unpacked: OnceLock<Vec<u8>>,
}

impl Topic {
    const fn new(name: &'static str, packed: &'static [u8]) -> Self {
        Self { name, packed, unpacked: OnceLock::new() }
    }

    fn files(&'static self) -> impl Iterator<Item = File> {
        // The build script packed it, and a test unpacks all of it.
        let unpack = || miniz_oxide::inflate::decompress_to_vec(self.packed).unwrap_or_default();
        let mut rest = self.unpacked.get_or_init(unpack).as_slice();
        std::iter::from_fn(move || {
            let (path, bytes) = (next(&mut rest)?, next(&mut rest)?);
            Some((str::from_utf8(path).ok()?, bytes))
        })
    }
}

/// The next part of an unpacked topic: its length, and its bytes.
fn next(rest: &mut &'static [u8]) -> Option<&'static [u8]> {
    let (length, behind) = rest.split_first_chunk()?;
    let (part, behind) = behind.split_at_checked(u32::from_le_bytes(*length).try_into().ok()?)?;
    *rest = behind;
    Some(part)
}

// Written by the build script: the topics, each with its packed bytes.
include!(concat!(env!("OUT_DIR"), "/topics.rs"));

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn the_files_of_every_case_are_embedded_and_no_others() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let paths: Vec<_> = super::files().map(|(path, _)| path).collect();
        assert!(paths.is_sorted());
        let mut archived = 0;
        for (path, bytes) in super::files() {
            match std::fs::read(root.join(path)) {
                Ok(file) => assert_eq!(file, bytes, "{path}"),
                Err(_) => archived += 1,
            }
            let (folder, _) = path.rsplit_once('/').unwrap();
            let case = format!("{folder}/case.toml");
            assert!(paths.binary_search(&case.as_str()).is_ok(), "{path}");
        }
        assert!(archived > 1_000 && paths.len() > 5_000, "{archived} of {}", paths.len());
        let ids = super::files_of("ids").map(|(path, _)| path);
        assert!(ids.eq(paths.into_iter().filter(|path| path.starts_with("ids/"))));
    }
}
