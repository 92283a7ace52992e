"""Tests of scripts/sentences.py: what it draws out of a page, and what it finds wrong in a table."""
import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import sentences
from sentences import Row

RULES = {
    "a.must": ("must", "every revision"),
    "a.should": ("should, must from 2026-07-28 on", "2025-06-18 and later"),
    "a.old": ("must; a note on null", "2024-11-05 to 2025-11-25"),
    "a.only": ("info", "2025-11-25"),
}


def row(verdict, revision="2025-11-25", number="1", keyword="MUST"):
    return Row(revision, "server/tools", "Names", number, "0" * 10, keyword, verdict)


def drawn(text, page="server/tools"):
    return [(it.heading, it.keyword, it.text) for it in sentences.drawn(page, text)]


class Drawing(unittest.TestCase):
    def test_sentences_end_where_they_end(self):
        page = "# A\n\nA name, e.g. A, **MUST** be\nshort. It may be long. It SHOULD\nbe [plain](/x)!\n"
        self.assertEqual(
            drawn(page), [("A", "MUST", "A name, e.g. A, MUST be short."), ("A", "SHOULD", "It SHOULD be plain!")]
        )

    def test_only_words_in_capitals_count_and_may_does_not(self):
        self.assertEqual(drawn("It must be.\n\nIt MAY be.\n\nMUSTARD is OPTIONAL.\n"), [])
        words = ["MUST NOT", "REQUIRED", "SHALL", "SHOULD NOT", "RECOMMENDED", "NOT RECOMMENDED"]
        self.assertEqual([keyword for _, keyword, _ in drawn("\n\n".join(f"It is {word} so." for word in words))], words)

    def test_the_strongest_word_of_a_sentence_is_its_keyword(self):
        self.assertEqual(drawn("It SHOULD stop and MUST NOT go on.\n")[0][1], "MUST NOT")

    def test_code_and_frontmatter_are_skipped(self):
        page = "---\ntitle: MUST\n---\n\n```js\n// MUST\n# MUST\n```\n\n````\n```\nMUST\n````\n\n- a\n  ```\n  MUST\n  ```\n\nIt MUST.\n"
        self.assertEqual(drawn(page), [("", "MUST", "It MUST.")])

    def test_items_and_cells_are_sentences(self):
        page = "- MUST a\n- MUST b\n  and c\n\n| x | y |\n| -- | -- |\n| MUST d | SHOULD e \\| f |\n"
        self.assertEqual([text for *_, text in drawn(page)], ["MUST a", "MUST b and c", "MUST d", "SHOULD e \\| f"])

    def test_items_take_over_what_their_lead_in_asks_for(self):
        page = "Clients SHOULD:\n\n1. Ask\n   - twice\n2. MAY wait\n3. MUST go\n\nAnd:\n\n- rest\n"
        expected = [("SHOULD", "Clients SHOULD:"), ("SHOULD", "Ask"), ("SHOULD", "twice"), ("MUST", "MUST go")]
        self.assertEqual([it[1:] for it in drawn(page)], expected)

    def test_a_lead_in_ends_with_its_section_and_its_last_sentence(self):
        self.assertEqual(len(drawn("Clients MUST:\n\n# B\n\n- ask\n")), 1)
        self.assertEqual(len(drawn("- Clients MUST:\n\n  With a word.\n")), 1)
        self.assertEqual(len(drawn("Clients MUST. For example:\n\n- ask\n")), 1)

    def test_the_page_of_the_schema_is_read_by_its_members(self):
        page = '### `Tool`\n\n<p>It MUST be.</p>\n<div class="tsd-anchor-link" id="tool-name"><span>n</span></div>\n<p>It SHOULD <code>x</code>:</p><ul>\n<li>one</li> <li>two</li></ul>\n'
        expected = [("Tool", "MUST", "It MUST be."), ("tool-name", "SHOULD", "It SHOULD x:"), ("tool-name", "SHOULD", "one"), ("tool-name", "SHOULD", "two")]
        self.assertEqual(drawn(page, "schema"), expected)

    def test_a_digest_overlooks_line_breaks_and_marks_but_no_word(self):
        self.assertEqual(sentences.digest("It `MUST`\n be."), sentences.digest("It MUST be."))
        self.assertNotEqual(sentences.digest("It MUST be."), sentences.digest("It MUST not be."))


class Comparing(unittest.TestCase):
    def test_what_is_as_it_was_is_in_order(self):
        self.assertEqual(list(sentences.compare([row("a.must")], [row("?")])), [])

    def test_what_is_new_moved_or_gone_is_named(self):
        changed = row("?")._replace(digest="1" * 10)
        moved = row("?", number="2")
        self.assertEqual(len(list(sentences.compare([row("a.must")], [row("?"), changed]))), 1)
        new, gone = sentences.compare([row("a.must")], [changed])
        self.assertIn("is new, or has changed", new)
        self.assertIn("not in the specification any more", gone)
        self.assertIn("elsewhere", next(sentences.compare([row("a.must")], [moved])))

    def test_an_update_keeps_what_is_known(self):
        fresh = [row("?", number="2"), row("?")._replace(digest="1" * 10)]
        self.assertEqual([it.verdict for it in sentences.update([row("a.must")], fresh)], ["a.must", "?"])

    def test_the_draft_stands_in_for_a_folder_that_is_not_there(self):
        with tempfile.TemporaryDirectory() as checkout:
            for folder in ("2025-11-25", "draft"):
                path = Path(checkout) / "docs/specification" / folder / "server"
                path.mkdir(parents=True)
                (path / "tools.mdx").write_text("# Names\n\nA name MUST be. A name MUST be short.\n")
            rows = [it for _, it in sentences.draw(Path(checkout))]
        places = [it[:4] for it in rows]
        self.assertEqual(places, [(name, "server/tools", "Names", number) for name in sentences.REVISIONS for number in "12"])


class Table(unittest.TestCase):
    def faults(self, *rows):
        return list(sentences.faults(rows, RULES, {"inside"}))

    def test_a_row_has_rules_of_its_revision_or_a_reason(self):
        self.assertEqual(self.faults(row("a.must a.old"), row("reason:inside", number="2")), [])

    def test_each_fault_is_named(self):
        inside = row("reason:inside", number="2")
        for verdict, words in [
            ("?", "neither a rule nor a reason"),
            ("", "neither a rule nor a reason"),
            ("a.must a.none", "no rule a.none"),
            ("reason:none", "no reason none"),
        ]:
            with self.subTest(verdict):
                (fault,) = self.faults(row(verdict), inside)
                self.assertIn(words, fault)
        (fault,) = self.faults(row("a.old", "2026-07-28"), inside)
        self.assertIn("a.old does not judge this revision", fault)
        self.assertIn("is there twice", self.faults(inside, inside)[0])
        self.assertIn("no sentence has the reason inside", self.faults(row("a.must"))[0])

    def test_an_obligation_with_nothing_but_lesser_rules_is_noted(self):
        notes = lambda it: len(list(sentences.notes([it], RULES)))
        self.assertEqual(notes(row("a.should")), 1)
        self.assertEqual(notes(row("a.should", "2026-07-28")), 0)
        self.assertEqual(notes(row("a.only a.must")), 0)
        self.assertEqual(notes(row("a.only", keyword="SHOULD")), 0)
        self.assertEqual(notes(row("reason:inside")), 0)

    def test_revisions_are_read_as_the_page_of_rules_writes_them(self):
        binds = lambda rule: [revision for revision in sentences.REVISIONS if sentences.binds(RULES[rule][1], revision)]
        both = list(sentences.REVISIONS)
        self.assertEqual([binds(rule) for rule in RULES], [both, both, both[:1], both[:1]])

    def test_the_pages_that_the_table_names_are_read(self):
        known = sentences.rules("| `a.b` | must | client | every revision | T `x` | 1 | 2 |\n| id | level | party |\n")
        self.assertEqual(known, {"a.b": ("must", "every revision")})
        self.assertEqual(sentences.reasons("- **in-side**: It is.\n- **empty**:\n- no\n"), {"in-side"})

    def test_a_row_without_reason_fails_the_run(self):
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "sentences.tsv"
            for verdict, code in [("reason:inside", 0), ("?", 1)]:
                table.write_text("\t".join(row(verdict)) + "\n")
                with (
                    mock.patch.multiple(sentences, TABLE=table, reasons=lambda _: {"inside"}),
                    mock.patch("sys.argv", ["sentences.py", "--table-only"]),
                    contextlib.redirect_stdout(io.StringIO()),
                ):
                    self.assertEqual(sentences.main(), code)


if __name__ == "__main__":
    unittest.main()
