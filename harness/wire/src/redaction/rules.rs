//! What is to be taken out: members by name, parts of texts by pattern, and the names and patterns that many sessions need; and
//! what replaces it.

use super::ledger::{Ledger, MARKER, Rule, marker_length, unnumbered_mark};
use crate::lock;
use regex::bytes::{Regex, RegexSet};
use regex_syntax::ParserBuilder;
use std::borrow::Cow;
use std::io::{self, BufRead, Read};
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex};

/// What is to be taken out. Cheap to copy.
#[derive(Debug, Default, Clone)]
pub struct Redaction {
    names: Arc<Rules>,
    /// The letters of each name, since few members have all of any.
    letters: Arc<[Letters]>,
    texts: Arc<Rules>,
    pub(super) known: Option<Arc<Known>>,
    ledger: Option<Arc<Mutex<Ledger>>>,
    /// Only looks for values that go by their names.
    pub(super) learns: bool,
}

/// Patterns, each with what is said of it.
#[derive(Debug, Default)]
struct Rules {
    list: Vec<(String, Regex)>,
    /// All of them at once, since most of what is looked at fits none.
    any: RegexSet,
    /// The length in bytes of the shortest text that fits any, as far as that is known.
    shortest: usize,
}

/// Values that are taken out elsewhere.
#[derive(Debug)]
pub(super) struct Known {
    /// Any of them, which is found faster without what stands around it.
    any: Regex,
    /// As a word by itself.
    word: Regex,
    /// How many more there are, which are not looked for.
    more: usize,
}

/// Which letters of the Latin alphabet there are, in whatever case: a bit for each.
type Letters = u32;

/// A character besides these, which may be one of them in another case.
const FOREIGN: Letters = 1 << 31;

/// The bit of each byte.
const BITS: [Letters; 256] = {
    let mut bits = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        bits[byte] = match byte as u8 {
            letter @ (b'a'..=b'z' | b'A'..=b'Z') => 1 << (letter.to_ascii_lowercase() - b'a'),
            0x80.. => FOREIGN,
            _ => 0,
        };
        byte += 1;
    }
    bits
};

fn letters(name: &[u8]) -> Letters {
    name.iter().fold(0, |letters, byte| letters | BITS[usize::from(*byte)])
}

impl Rules {
    /// What `before` has, and then these.
    fn beside(before: &Self, more: impl IntoIterator<Item = (String, Regex)>) -> Result<Arc<Self>, String> {
        let list: Vec<_> = before.list.iter().cloned().chain(more).collect();
        let any = RegexSet::new(list.iter().map(|(_, pattern)| pattern.as_str()));
        let any = any.map_err(|error| format!("the patterns are too large together: {error}"))?;
        let shortest = |pattern: &Regex| {
            let parsed = ParserBuilder::new().utf8(false).build().parse(pattern.as_str());
            parsed.ok().and_then(|pattern| pattern.properties().minimum_len()).unwrap_or_default()
        };
        let shortest = list.iter().map(|(_, pattern)| shortest(pattern)).min().unwrap_or_default();
        Ok(Arc::new(Self { list, any, shortest }))
    }

    /// Whether a text, or part of it, fits any.
    fn fit(&self, text: &[u8]) -> bool {
        text.len() >= self.shortest && self.any.is_match(text)
    }
}

impl Redaction {
    /// Names of members, in any case, where `*` matches anything; and regular expressions for parts of texts.
    pub fn new(names: &[String], texts: &[String]) -> Result<Self, String> {
        let texts = texts.iter().map(|text| (format!("/{text}/"), &**text));
        Self::default().with(names.iter().map(String::as_str), texts)
    }

    /// What this preset has, besides.
    pub fn with_preset(self, preset: &Preset) -> Result<Self, String> {
        let texts = preset.texts.iter().map(|&(kind, text)| (kind.to_owned(), text));
        self.with(preset.names.iter().copied(), texts)
    }

    /// Names, and patterns with what is said of each, besides.
    fn with<'r>(
        self,
        names: impl Iterator<Item = &'r str>,
        texts: impl Iterator<Item = (String, &'r str)>,
    ) -> Result<Self, String> {
        let names = names.map(|name| Ok((format!("`{name}`"), named(name)?)));
        let names: Vec<_> = names.collect::<Result<_, String>>()?;
        let texts = texts.map(|(kind, text)| Ok((kind, compiled(text, text)?)));
        let texts: Vec<_> = texts.collect::<Result<_, String>>()?;
        let (names, texts) = (Rules::beside(&self.names, names)?, Rules::beside(&self.texts, texts)?);
        // A name with others may be any name.
        let needed = |name: &str| Some(letters(name.as_bytes())).filter(|letters| letters & FOREIGN == 0);
        let letters = names.list.iter().map(|(name, _)| needed(name).unwrap_or_default()).collect();
        Ok(Self { names, letters, texts, ..self })
    }

    /// The same, with a number behind each marker: the same for the same value, and others for others. The numbers go on
    /// behind those that `reader` has. [`Redaction::taken`] counts.
    pub fn numbered(mut self, reader: &mut dyn Read) -> io::Result<Self> {
        self.ledger = Some(Arc::new(Mutex::new(Ledger::behind(reader)?)));
        Ok(self)
    }

    /// The same, with numbers from 1, for counting.
    #[must_use]
    pub fn counting(mut self) -> Self {
        self.ledger = Some(Arc::default());
        self
    }

    /// The same, which only learns the values that go by their names, for [`Redaction::knowing`]. Patterns teach nothing, and cost most.
    #[must_use]
    pub fn learning(self) -> Self {
        let ledger = Some(Arc::new(Mutex::new(Ledger::learning())));
        Self { ledger, learns: self.is_asked(), texts: Arc::default(), ..self }
    }

    /// Whether lines of JSON may have anything to learn from, by the bytes alone: a word that a name has, the sign of a URL's
    /// password, or an escape that may be part of either. Memory: the longest line.
    pub fn may_learn(&self, reader: &mut dyn BufRead) -> io::Result<bool> {
        let pieces: Option<Vec<String>> = self.names.list.iter().map(|(name, _)| piece(name)).collect();
        let Some(mut signs) = pieces else { return Ok(true) };
        signs.push(r"%[2-7c-e]|\\u(?:00|017f|212a)|\xc5\xbf|\xe2\x84\xaa|:\\*/\\*/[^ ]*@".to_owned());
        let Ok(sign) = Regex::new(&format!("(?i-u){}", signs.join("|"))) else { return Ok(true) };
        let mut line = Vec::new();
        while self.is_asked() && reader.read_until(b'\n', &mut line)? > 0 {
            if sign.is_match(&line) {
                return Ok(true);
            }
            line.clear();
        }
        Ok(false)
    }

    /// The same, and what another one learned goes wherever it is repeated: as a word of a text, whatever stands before it.
    pub fn knowing(self, other: &Self) -> Result<Self, String> {
        let found = other.ledger.as_ref().map(|ledger| {
            let mut ledger = lock(ledger);
            (ledger.learned.take().unwrap_or_default(), ledger.unlearned.len())
        });
        let (learned, more) = found.unwrap_or_default();
        // Of two with one beginning the longer first.
        let escaped: Vec<String> = learned.iter().rev().map(|value| regex::escape(value)).collect();
        if escaped.is_empty() {
            return Ok(self);
        }
        let any = escaped.join("|");
        let word = format!(r"(?-u)\b{{start-half}}(?:{any})\b{{end-half}}");
        let [any, word] = [compiled(&any, &any)?, compiled(&word, &any)?];
        Ok(Self { known: Some(Arc::new(Known { any, word, more })), ..self })
    }

    /// How many values that go by their names are not looked for elsewhere, since there are too many.
    pub fn not_looked_for(&self) -> usize {
        self.known.as_ref().map_or(0, |known| known.more)
    }

    /// What was taken out so far, by kind: how often, and how many values; nothing where it is not numbered.
    pub fn taken(&self) -> Vec<(String, u64, u64)> {
        let Some(ledger) = &self.ledger else { return Vec::new() };
        let ledger = lock(ledger);
        ledger.taken().map(|(rule, times, values)| (self.kind(rule), times, values)).collect()
    }

    /// Counts what the patterns match in a text, whatever it is part of.
    pub fn count_in(&self, text: &str) {
        self.patterns(text.as_bytes());
    }

    fn kind(&self, rule: Rule) -> String {
        let named = |rules: &Rules, number: usize| rules.list.get(number).map(|it| it.0.clone());
        match rule {
            Rule::Name(number) => named(&self.names, number).unwrap_or_default(),
            Rule::Text(number) => {
                named(&self.texts, number).unwrap_or_else(|| "value that is taken out elsewhere".to_owned())
            }
            Rule::Password => "user and password of a URL".to_owned(),
            Rule::Encoded => "encoded text".to_owned(),
            Rule::Unknown => "what could not be inspected".to_owned(),
        }
    }

    /// What replaces this value.
    pub(super) fn mark(&self, rule: Rule, value: &[u8]) -> Vec<u8> {
        match &self.ledger {
            // What binds messages to a session still does.
            None if self.is_session(rule) => unnumbered_mark(value),
            None => MARKER.as_bytes().to_vec(),
            Some(ledger) => {
                let mut ledger = lock(ledger);
                match rule {
                    Rule::Name(_) if !self.is_session(rule) => ledger.learn(value),
                    // The user of a URL is not a secret.
                    Rule::Password => {
                        ledger.learn(value.split(|byte| *byte == b':').next_back().unwrap_or(value))
                    }
                    _ => {}
                }
                ledger.mark(rule, value)
            }
        }
    }

    /// Whether it takes out ids of sessions.
    fn is_session(&self, rule: Rule) -> bool {
        let Rule::Name(number) = rule else { return false };
        self.names.list.get(number).is_some_and(|(name, _)| name.contains("session") && name.ends_with("id`"))
    }

    /// The same without numbers, to see whether something would be taken out.
    pub(super) fn unnumbered(&self) -> Self {
        Self { ledger: None, ..self.clone() }
    }

    /// Whether anything is to be taken out at all.
    pub fn is_asked(&self) -> bool {
        self.learns || !self.names.list.is_empty() || !self.texts.list.is_empty()
    }

    /// Why a member of this name is to be taken out, if it is.
    pub(super) fn names(&self, name: &[u8]) -> Option<Rule> {
        let there = letters(name);
        // Without a branch for each pattern.
        let may_fit = self.letters.iter().fold(there & FOREIGN != 0, |any, all| any | (all & !there == 0));
        let fits = may_fit && self.names.fit(name);
        fits.then(|| self.names.any.matches(name).iter().next().map(Rule::Name))?
    }

    /// A text without the parts that match a pattern. A marker that is there already is not part of the text: it stays
    /// one marker, so that a second time changes nothing.
    pub(super) fn patterns<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let mut text = Cow::Borrowed(text);
        let fitting = if self.texts.fit(&text) { &self.texts.list[..] } else { &[] };
        for (number, (_, pattern)) in fitting.iter().enumerate() {
            if let Some(changed) = self.replaced(number, pattern, &text) {
                text = Cow::Owned(changed);
            }
        }
        let known = self.known.as_ref().filter(|known| known.any.is_match(&text));
        match known.and_then(|known| self.replaced(self.texts.list.len(), &known.word, &text)) {
            Some(changed) => Cow::Owned(changed),
            None => text,
        }
    }

    fn replaced(&self, number: usize, pattern: &Regex, text: &[u8]) -> Option<Vec<u8>> {
        let mut markers = None;
        let (mut out, mut copied, mut passed) = (Vec::new(), 0, 0);
        // Of a pattern that has a group of this name only that goes. To find groups takes longer.
        let grouped = pattern.captures_len() > 1;
        for found in pattern.find_iter(text) {
            let groups = grouped.then(|| pattern.captures_at(text, found.start())).flatten();
            let found = groups.and_then(|groups| groups.name("secret")).unwrap_or(found);
            let markers = markers.get_or_insert_with(|| markers_of(text));
            passed += markers[passed..].iter().take_while(|marker| marker.end <= found.start()).count();
            let touched = markers[passed..].iter().take_while(|marker| marker.start < found.end());
            let (start, end) = touched.clone().fold((found.start(), found.end()), |(start, end), marker| {
                (start.min(marker.start), end.max(marker.end))
            });
            let inside =
                touched.clone().count() == 1 && touched.clone().all(|marker| *marker == (start..end));
            if inside || end <= copied {
                continue;
            }
            let start = start.max(copied);
            out.extend_from_slice(&text[copied..start]);
            out.extend(self.mark(Rule::Text(number), &text[start..end]));
            copied = end;
        }
        (copied > 0).then(|| [&out, &text[copied..]].concat())
    }
}

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
pub static PRESETS: LazyLock<[Preset; 2]> =
    LazyLock::new(|| [read("common", include_str!("common.txt")), read("none", "")]);

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

/// A pattern of the longest part of a name, as a kind has it, with what may stand around it; none where that may be anything. Before
/// a name may stand a sign that is escaped, as in `\nsig=`, or the letter of an option, as in `-Hcookie`.
fn piece(kind: &str) -> Option<String> {
    let name = kind.trim_matches('`').trim_matches('"');
    let bare = name.trim_end_matches('#');
    let piece = bare.split('*').max_by_key(|piece| piece.len()).filter(|piece| piece.is_ascii())?;
    let before = if bare.starts_with(piece) { r"(?:^|[^a-z0-9_]|[\\-].)" } else { "" };
    let behind = if name.ends_with(piece) { r"(?:$|[^a-z0-9_-])" } else { "" };
    (!piece.is_empty()).then(|| format!("{before}{}{behind}", regex::escape(piece)))
}

/// A name in any case, where `*` matches anything, and `#` at its end a number.
fn named(name: &str) -> Result<Regex, String> {
    let (name, number) = name.strip_suffix('#').map_or((name, ""), |name| (name, "[_-]?[0-9]+"));
    let pattern = name.split('*').map(regex::escape).collect::<Vec<_>>().join(".*") + number;
    compiled(&format!("(?is)^(?:{pattern})$"), name)
}

fn compiled(pattern: &str, given: &str) -> Result<Regex, String> {
    match Regex::new(pattern) {
        _ if given.is_empty() => Err("an empty name or pattern would redact everything".to_owned()),
        Ok(regex) if regex.is_match(b"") => {
            Err(format!("`{given}` matches the empty text, and so would redact everything; narrow it down"))
        }
        Ok(regex) => Ok(regex),
        Err(error) => {
            // The lines before the last one draw the place.
            let error = error.to_string();
            let why = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
            Err(format!("`{given}` is not a regular expression: {why}"))
        }
    }
}

/// Where markers are, with their numbers.
fn markers_of(text: &[u8]) -> Vec<Range<usize>> {
    let end = |at: usize| at + marker_length(&text[at..]).unwrap_or_default();
    memchr::memmem::find_iter(text, MARKER).map(|at| at..end(at)).collect()
}
