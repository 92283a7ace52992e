//! Names and patterns that many sessions need.

use std::sync::LazyLock;

/// Names and patterns under one name.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// How it is asked for.
    pub name: &'static str,
    /// Names, as `--redact` takes them.
    pub names: &'static [&'static str],
    /// Patterns, each with what it is for.
    pub texts: &'static [(&'static str, &'static str)],
}

/// Every preset.
pub static PRESETS: LazyLock<[Preset; 1]> = LazyLock::new(|| [read("common", include_str!("common.txt"))]);

/// A preset, whose file says at its head how it is written.
fn read(name: &'static str, text: &'static str) -> Preset {
    let (mut names, mut texts) = (Vec::new(), Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match line.split_once('\t') {
            Some(pattern) => texts.push(pattern),
            None => names.push(line),
        }
    }
    Preset { name, names: names.leak(), texts: texts.leak() }
}

/// The preset of this name.
pub fn preset(name: &str) -> Result<&'static Preset, String> {
    let known = || PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ");
    let found = PRESETS.iter().find(|preset| preset.name == name);
    found.ok_or_else(|| format!("there is no preset `{name}`; the presets are: {}", known()))
}
