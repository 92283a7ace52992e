//! Command lines. Nobody can tell how a program reads its words, so where it is in doubt a word goes.

use super::ledger::Rule;
use super::rules::Redaction;

impl Redaction {
    /// A command line without what is to be taken out: what stands behind `--NAME` or `NAME`, in the same word or the
    /// next, headers, URLs, JSON, and whatever else a text may hold. Behind a word such as `Authorization:`, all goes.
    #[must_use]
    pub fn command(&self, words: &[String]) -> Vec<String> {
        let mut next = Next::Stays;
        let redacted = words.iter().map(|word| {
            let (taken, follows) = match next {
                Next::AllGo(rule) => (Some(rule), next),
                Next::Goes(rule) => (Some(rule), Next::Stays),
                Next::Stays => (None, self.behind(word)),
            };
            next = follows;
            taken.map_or_else(|| self.word(word), |rule| self.marked(rule, word))
        });
        redacted.collect()
    }

    /// What becomes of the word behind this one.
    fn behind(&self, word: &str) -> Next {
        let rule = |name: &str| spelled(name).find_map(|name| self.rule_of(name));
        let next = match word.strip_suffix([':', '=']) {
            Some(name) => rule(name.rsplit([' ', '=']).next().unwrap_or(name)).map(Next::AllGo),
            None => rule(word).map(Next::Goes),
        };
        next.unwrap_or(Next::Stays)
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
enum Next {
    Stays,
    Goes(Rule),
    AllGo(Rule),
}

/// The names that a word may give: itself, and what stands behind an option of one letter, as in `-HAuthorization`.
fn spelled(word: &str) -> impl Iterator<Item = &str> {
    let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| {
        let mut chars = rest.chars();
        chars.next().map(|_| chars.as_str())
    });
    [Some(word), short].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::Redaction;

    #[test]
    fn a_command_line_has_secrets_too() {
        let redaction =
            Redaction::of(&["token", "authorization"].map(str::to_owned), &["sk-[0-9]+".to_owned()]).unwrap();
        for (words, expected) in [
            (vec!["npx", "--token", "abc", "x"], vec!["npx", "--token", "[REDACTED]", "x"]),
            (vec!["--token", "-x", "--y"], vec!["--token", "[REDACTED]", "--y"]),
            (vec!["--token=abc", "TOKEN=a b&c"], vec!["--token=[REDACTED]", "TOKEN=[REDACTED]"]),
            (vec!["--tokens", "abc", "sk-12"], vec!["--tokens", "abc", "[REDACTED]"]),
            (vec!["--header", "Authorization: Bearer abc"], vec!["--header", "Authorization:[REDACTED]"]),
            (vec!["--header=Authorization: Bearer abc"], vec!["--header=Authorization: [REDACTED]"]),
            (vec!["-HAuthorization: Bearer abc"], vec!["-HAuthorization:[REDACTED]"]),
            (
                vec!["-H", "Authorization:", "Bearer", "abc"],
                vec!["-H", "Authorization:", "[REDACTED]", "[REDACTED]"],
            ),
            (vec!["--header=Authorization:", "Bearer"], vec!["--header=Authorization:", "[REDACTED]"]),
            (vec!["http://me:pw@h/?token=abc&a=1"], vec!["http://[REDACTED]@h/?token=[REDACTED]&a=1"]),
            (vec!["{\"a\":[{\"token\":\"abc\"}]}"], vec!["{\"a\":[{\"token\":\"[REDACTED]\"}]}"]),
            (vec!["--json={\"token\":\"a b\"}"], vec!["--json={\"token\":[REDACTED]"]),
            (vec!["sh", "-c", "TOKEN=abc ./server"], vec!["sh", "-c", "TOKEN=[REDACTED]"]),
            (vec!["sh", "-c", "A=1 TOKEN=abc ./server"], vec!["sh", "-c", "A=1 TOKEN=[REDACTED] ./server"]),
            (vec!["sh", "-c", "./server --token abc"], vec!["sh", "-c", "[REDACTED]"]),
            (vec!["set", "token", "abc"], vec!["set", "token", "[REDACTED]"]),
            (vec!["-e", "auth.token=abc"], vec!["-e", "auth.token=[REDACTED]"]),
            (vec!["c2stMTIzNDU2"], vec!["[REDACTED]"]),
        ] {
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            let once = redaction.command(&words);
            assert_eq!(once, expected, "{words:?}");
            assert_eq!(redaction.command(&once), once, "a second time changes nothing");
        }
    }
}
