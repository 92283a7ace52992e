//! Command lines. Nobody can tell how a program reads its words, so where it is in doubt a word goes.

use super::ledger::Rule;
use super::rules::Redaction;

impl Redaction {
    /// A command line without what is to be taken out: what follows `--NAME` or `NAME`, in the same word or the
    /// next, headers, URLs, JSON, and whatever else a text may hold. Behind a word such as `Authorization:`, all goes.
    pub fn command(&self, words: &[String]) -> Vec<String> {
        let mut next = NextWord::Stays;
        let redacted = words.iter().map(|word| {
            let (taken, follows) = match next {
                NextWord::AllGo(rule) => (Some(rule), next),
                NextWord::Goes(rule) => (Some(rule), NextWord::Stays),
                NextWord::Stays => (None, self.behind(word)),
            };
            let taken = taken.filter(|rule| *rule != Rule::Password || word.contains(':'));
            next = follows;
            taken.map_or_else(|| self.word(word), |rule| self.marked(rule, word))
        });
        redacted.collect()
    }

    /// Why the word behind this option goes, if it does; behind `-u` it does where it has a colon.
    pub(super) fn option(&self, word: &str) -> Option<Rule> {
        match word {
            "-u" | "--user" | "--proxy-user" if self.names(b"password").is_some() => Some(Rule::Password),
            _ => spelled(word).find_map(|name| self.rule_of(name)),
        }
    }

    /// What becomes of the word behind this one.
    fn behind(&self, word: &str) -> NextWord {
        let rule = |name: &str| spelled(name).find_map(|name| self.rule_of(name));
        let next = match word.strip_suffix([':', '=']) {
            Some(name) => rule(name.rsplit([' ', '=']).next().unwrap_or(name)).map(NextWord::AllGo),
            None => self.option(word).map(NextWord::Goes),
        };
        next.unwrap_or(NextWord::Stays)
    }

    fn word(&self, word: &str) -> String {
        let sign = word.find(['=', ':']);
        if let Some((name, value)) = sign.map(|at| word.split_at(at))
            && value.len() > 1
            && let Some(rule) = spelled(name).find_map(|name| self.rule_of(name))
        {
            return format!("{name}{}{}", &value[..1], self.marked(rule, &value[1..]));
        }
        // A script in one word: its own words may be options.
        let mut options = word.split_whitespace().filter(|inner| inner.starts_with('-') && *inner != word);
        let rule = options.find_map(|word| spelled(word).find_map(|name| self.rule_of(name)));
        if let Some(rule) = rule {
            return self.marked(rule, word);
        }
        self.text(word).into_owned()
    }
}

/// What becomes of the next word.
#[derive(Clone, Copy)]
enum NextWord {
    Stays,
    Goes(Rule),
    AllGo(Rule),
}

/// The names that a word may give: itself, and what follows an option of one letter, as in `-HAuthorization`.
fn spelled(word: &str) -> impl Iterator<Item = &str> {
    let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| {
        let mut chars = rest.chars();
        chars.next().map(|_| chars.as_str())
    });
    [Some(word), short].into_iter().flatten()
}
