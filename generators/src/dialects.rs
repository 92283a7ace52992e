//! What a dialect makes of a session that was made, from a plain list of its own: not from the reading contract.

use crate::relation::{Reading, Relation};
use crate::session_builder::SessionBuilder;
use formats::OwnedContent;
use transcript::dialect::{ALL, Dialect, IdRules};
use transcript::rejection::Code;

/// What is known of a variant in a dialect that makes something else of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InDialect {
    /// Every importer reads this meaning.
    Meaning(String),
    /// Every importer rejects.
    Rejects(Code),
    /// Nothing, for this reason.
    Unknown(&'static str),
}

impl SessionBuilder {
    /// The dialects that make something else of a variant with this session and this relation.
    pub fn in_dialects(&self, relation: Relation) -> Vec<(&'static Dialect, InDialect)> {
        let others = ALL.iter().filter(|dialect| !dialect.is_default());
        others.filter_map(|dialect| Some((dialect, self.in_dialect(dialect.ids, relation)?))).collect()
    }

    /// The session with an id of its own wherever the dialect asks for one. Nothing else in it has such an id.
    #[must_use]
    pub fn fit_for(mut self, dialect: &Dialect) -> Self {
        let messages = self.entries.iter_mut().filter_map(|entry| entry.message.as_mut());
        for (number, message) in messages.enumerate().filter(|(_, message)| message.lacks_its_id()) {
            match dialect.ids.required {
                false => {}
                true if message.is("notification") => message.set_id(None),
                true => message.set_id(Some(&format!("\"fitted/{number}\""))),
            }
        }
        self
    }

    fn in_dialect(&self, ids: IdRules, relation: Relation) -> Option<InDialect> {
        let plain = self.meaning();
        let session = match self.read(ids) {
            Ok(meaning) => InDialect::Meaning(meaning),
            Err(known) => known,
        };
        let same = session == InDialect::Meaning(plain);
        match (relation, session) {
            // Only a session can have two calls with one id, and this one was read anew.
            (Relation::Rejects(Code::DuplicateCallId), InDialect::Rejects(Code::DuplicateCallId)) => None,
            (Relation::Rejects(Code::DuplicateCallId), session) => Some(session),
            (_, InDialect::Unknown(why)) => Some(InDialect::Unknown(why)),
            (Relation::Same | Relation::Changes, session) => (!same).then_some(session),
            (Relation::Rejects(one), InDialect::Rejects(other)) => {
                (one != other).then_some(InDialect::Unknown("two faults, and either may be reported first"))
            }
            (Relation::Rejects(_) | Relation::Open(Reading::Free), InDialect::Meaning(_)) => None,
            (Relation::Open(_), _) => {
                (!same).then_some(InDialect::Unknown("an open clause and the dialect meet in it"))
            }
        }
    }

    /// The session's meaning where ids are these, or why it has none.
    fn read(&self, ids: IdRules) -> Result<String, InDialect> {
        let mut read = self.clone();
        read.bind(ids).map_err(|code| match code {
            Code::DuplicateCallId if self.has_exchanges() => {
                InDialect::Unknown("HTTP may have turned the first of two calls away")
            }
            code => InDialect::Rejects(code),
        })?;
        match read.needs_directions && !self.needs_directions {
            true => Err(InDialect::Unknown("formats that do not tell who spoke would read it otherwise")),
            false => Ok(read.meaning()),
        }
    }

    fn has_exchanges(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.owned.what, OwnedContent::Exchange(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::InDialect;
    use crate::seeded::{Source, variant};
    use formats::{ReadError, ReadOptions, meaning};
    use transcript::dialect::{ALL, find};
    use transcript::rejection::Code;

    /// The reader in a dialect reads what the list here says, in every format, and as the contract where it says nothing.
    #[test]
    fn the_reader_and_the_list_agree_in_every_dialect() {
        for dialect in ALL.iter().filter(|dialect| !dialect.is_default()) {
            let (mut otherwise, mut unknown, mut alike) = (0, 0, 0);
            let sources = [Source::Made, Source::MadeFor(dialect)];
            for (number, source) in (0..150).flat_map(|number| sources.map(|source| (number, source))) {
                let Some(made) = variant(5, number, source) else { continue };
                let known = made.dialects.iter().find(|(other, _)| *other == dialect).map(|(_, known)| known);
                for (format, file) in
                    made.files.iter().filter_map(|(it, file)| Some((it, file.as_ref().ok()?)))
                {
                    let read = |options| match meaning(format, &mut &file[..], options) {
                        Ok(meaning) => Ok(meaning.text),
                        Err(ReadError::Rejected(rejection)) => Err(rejection.code),
                        Err(other) => panic!("{other}"),
                    };
                    let (plain, other) =
                        (read(ReadOptions::default()), read(ReadOptions::in_dialect(dialect)));
                    let what = format!("{number}, {}: {:?}", format.name, made.trail);
                    match known {
                        None => assert_eq!(plain.is_ok(), other.is_ok(), "{what}"),
                        Some(InDialect::Meaning(text)) => {
                            assert!(other.is_ok_and(|it| same(&it, text)), "{what}")
                        }
                        Some(InDialect::Rejects(code)) => assert_eq!(other, Err(*code), "{what}"),
                        Some(InDialect::Unknown(_)) => {}
                    }
                }
                *(match known {
                    None => &mut alike,
                    Some(InDialect::Unknown(_)) => &mut unknown,
                    Some(_) => &mut otherwise,
                }) += 1;
            }
            assert!(otherwise > 30 && alike > 100 && unknown < alike, "{otherwise} {unknown} {alike}");
        }
    }

    fn same(one: &str, other: &str) -> bool {
        use transcript::json::Json;
        Json::parse(one).unwrap().same(Json::parse(other).unwrap())
    }

    #[test]
    fn a_mutators_refusal_is_the_contracts_alone_where_the_dialect_reads_on() {
        let typed = find("typed-ids").unwrap();
        let made = (0..2000).filter_map(|number| variant(5, number, Source::MadeFor(typed)));
        let reads = |trail: &str| {
            let mut of_it = made.clone().filter(|it| it.trail == [trail] && !it.dialects.is_empty());
            of_it.next().map(|it| it.dialects[0].1.clone())
        };
        assert!(matches!(reads("ids-duplicate-answered"), Some(InDialect::Meaning(_))));
        assert!(matches!(reads("ids-null"), Some(InDialect::Rejects(Code::InvalidId))));
    }
}
