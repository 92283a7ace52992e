//! The suite that comes with mcp-concord, embedded for programs that must run from any folder.
//!
//! The bytes of every file of every case directory.

/// A file of a case directory: its path from the root of the suite, with `/`, and its bytes.
pub type File = (&'static str, &'static [u8]);

/// Every file of every case directory, ordered by path.
pub fn files() -> impl Iterator<Item = File> {
    INDEX.iter().filter_map(|&(path, start, end)| Some((path, PACK.get(start..end)?)))
}

// Written by the build script: one file of all bytes, and where each file begins and ends in it.
include!(concat!(env!("OUT_DIR"), "/index.rs"));

static PACK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pack"));

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn every_case_directory_is_embedded_as_it_stands() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for (path, bytes) in super::files() {
            assert_eq!(std::fs::read(root.join(path)).unwrap(), bytes, "{path}");
        }
        let topics = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
        for case in topics.filter(|path| path.is_dir()).flat_map(|topic| std::fs::read_dir(topic).unwrap()) {
            let file = case.unwrap().path().join("case.toml");
            if file.is_file() {
                let name = file.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                assert!(super::files().any(|(path, _)| path == name), "{name} is missing");
            }
        }
    }

    #[test]
    fn paths_are_ordered_and_nothing_but_cases_is_embedded() {
        let paths: Vec<_> = super::files().map(|(path, _)| path).collect();
        assert!(paths.is_sorted());
        for path in paths {
            let (folder, _) = path.rsplit_once('/').unwrap();
            assert!(super::files().any(|(other, _)| other == format!("{folder}/case.toml")), "{path}");
        }
    }
}
