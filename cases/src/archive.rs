//! Archives of cases: the files of several cases in one text file, as Go's txtar writes them.
//!
//! A line `-- topic/case/file --` begins a file, which ends with the line before the next of them. The text ahead of the first is a
//! comment. What such a text cannot hold, such as a file without a final line feed, is kept in a folder.

/// The files of an archive, each with its path from the folder of the archive.
///
/// # Errors
/// The line, from 1, that begins a file of no case.
pub fn files(archive: &[u8]) -> Result<Vec<(&str, &[u8])>, usize> {
    let mut files: Vec<(&str, &[u8])> = Vec::new();
    let (mut start, mut end) = (0, 0);
    for (number, line) in (1_usize..).zip(archive.split_inclusive(|byte| *byte == b'\n')) {
        if let Some(name) = line.strip_prefix(b"-- ").and_then(|line| line.strip_suffix(b" --\n")) {
            let name = str::from_utf8(name).ok().filter(|name| is_of_a_case(name)).ok_or(number)?;
            files.push((name, &[]));
            start = end + line.len();
        }
        end += line.len();
        if let Some((_, bytes)) = files.last_mut() {
            *bytes = archive.get(start..end).unwrap_or_default();
        }
    }
    Ok(files)
}

/// `case/file`, or a longer path that leads nowhere else.
fn is_of_a_case(name: &str) -> bool {
    name.contains('/') && name.split('/').all(|part| !matches!(part.trim(), "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::files;

    #[test]
    fn a_file_ends_before_the_next_one_begins() {
        let archive = b"a comment\n-- a/b/c --\none\n-- no name\n\n-- d/e --\n-- f/g --\ntwo";
        let expected: &[(&str, &[u8])] = &[("a/b/c", b"one\n-- no name\n\n"), ("d/e", b""), ("f/g", b"two")];
        assert_eq!(files(archive).unwrap(), expected);
        assert_eq!(files(b"a comment\n").unwrap(), []);
    }

    #[test]
    fn a_file_belongs_to_a_case() {
        for name in ["a", "a/", "/a", "a//b", "../a", "a/./b"] {
            assert_eq!(files(format!("\n-- {name} --\n").as_bytes()), Err(2), "{name}");
        }
    }
}
