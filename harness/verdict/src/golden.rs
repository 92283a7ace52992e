//! Golden files: what renderers write of small samples, kept in `tests/golden`. `UPDATE_GOLDEN=1 cargo test` writes them anew.

use std::fs;
use std::path::Path;

/// Holds texts, each under its title, to the file of this name.
pub(crate) fn golden<T: AsRef<str>>(name: &str, texts: impl IntoIterator<Item = (T, String)>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let section =
        |(title, text): (T, String)| format!("=== {}\n{}\n", title.as_ref(), text.trim_end_matches('\n'));
    let actual: String = texts.into_iter().map(section).collect();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let differs = actual.lines().zip(expected.lines()).find(|(new, old)| new != old);
    assert!(actual == expected, "{name} holds something else, first: {differs:#?}\nin all of\n{actual}");
}
