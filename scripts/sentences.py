#!/usr/bin/env python3
"""Checks the table of requirements of the two newest revisions: each has rules of `check` that judge it, or a reason.

    scripts/sentences.py CHECKOUT            extracts the sentences from a checkout of the specification and compares
    scripts/sentences.py CHECKOUT --update   writes the table again; new rows get a `?`
    scripts/sentences.py CHECKOUT --print    prints the sentences with their rows, to help fill in the table
    scripts/sentences.py --table-only        compares the table with docs/rules.md and docs/rules-not-judged.md

A row of sentences.tsv is revision, page, heading, number under the heading, digest, keyword, and then rule ids or
`reason:KEY`. The text itself is not copied: the digest shows whether it changed. Exit code 1 if something is wrong.
"""
import argparse
import collections
import hashlib
import html
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "scripts/sentences.tsv"
# Each revision with the folders that may hold it.
REVISIONS = {"2025-11-25": ["2025-11-25"], "2026-07-28": ["2026-07-28", "draft"]}
LEVELS = {"must": 2, "should": 1, "info": 0}

KEYWORD = re.compile(r"\b(MUST(?: NOT)?|REQUIRED|SHALL(?: NOT)?|SHOULD(?: NOT)?|(?:NOT )?RECOMMENDED)\b")
SOFT = re.compile("SHOULD|(?:NOT )?RECOMMENDED")
ITEM = re.compile(r"(\s*)(?:[-*+]|\d+[.)])\s+(.*)")
FENCE = re.compile(r"\s*(```+|~~~+)")
END = re.compile(r"(?<=[.!?])[\"')]*\s+(?=[\"'(`\[]*[A-Z])")
# An item that grants something, in a list of what is asked for.
MAY = re.compile(r"(?:\w+ ){0,2}MAY\b")
# What looks like the end of a sentence and is none.
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf)\.$")

Sentence = collections.namedtuple("Sentence", "page heading keyword text line")
Row = collections.namedtuple("Row", "revision page heading number digest keyword verdict")


def plain(text):
    """The text without links, emphasis and tags."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = html.unescape(re.sub(r"</?[A-Za-z][^<>]*>", "", text))
    return " ".join(re.sub(r"(?<![\w`])_([^_`]+)_(?![\w`])", r"\1", text.replace("**", "")).split())


def sentences(text):
    start = 0
    for end in END.finditer(text):
        if not ABBREVIATION.search(text[start : end.start()]):
            yield text[start : end.end()].strip()
            start = end.end()
    if text[start:].strip():
        yield text[start:].strip()


def digest(text):
    return hashlib.sha256(re.sub(r"[`\s]+", " ", text).strip().encode()).hexdigest()[:10]


def reference(text):
    """The generated page of the schema, as the blocks of a page in Markdown."""
    text = re.sub(r'<div class="tsd-anchor-link" id="([^"]*)"', r"\n\n## \1\n\n<div", html.unescape(text))
    text = re.sub(r"<li[ >]", lambda it: "\n\n- " + it[0], text)
    return re.sub(r"</?(?:p|div|section|aside|ul|ol|h\d)\b[^>]*>", "\n\n", text)


def blocks(text):
    """Each paragraph, item and cell: its line, how deep it is indented, whether it is an item, the heading above, and its text."""
    heading, fence, current, table = "", None, None, False
    lines = text.split("\n")
    at = lines.index("---", 1) + 1 if lines[0] == "---" else 0
    for number, line in enumerate(lines[at:], at + 1):
        edge = FENCE.match(line)
        if fence:
            fence = None if edge and edge[1].startswith(fence) and not line.strip(" `~") else fence
            continue
        item = ITEM.match(line)
        if edge or line.startswith("#") or not line.strip() or item or line.lstrip().startswith("|"):
            if current:
                yield current
            current = None
        if edge:
            fence = edge[1]
        elif line.startswith("#"):
            heading = plain(line.lstrip("#")).replace("`", "").strip()
        elif line.lstrip().startswith("|"):
            for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")):
                yield number, -1, False, heading, cell
        elif item:
            current = (number, len(item[1]), True, heading, item[2])
        elif line.strip():
            indent = len(line) - len(line.lstrip()) - 1
            text = line.lstrip("> ")
            current = (*current[:4], f"{current[4]} {text}") if current else (number, indent, False, heading, text)
    if current:
        yield current


def drawn(page, text):
    """The sentences of a page that ask for something. An item of a list takes over what the words before the list ask for."""
    leads, last = [], None
    for line, indent, item, heading, block in blocks(reference(text) if page == "schema" else text):
        block = plain(block)
        leads = [lead for lead in leads if lead[0] < indent and heading == last]
        last, asks, found = heading, None, False
        for sentence in sentences(block):
            asks = min(KEYWORD.findall(sentence), key=lambda word: bool(SOFT.match(word)), default=None)
            if asks:
                found = True
                yield Sentence(page, heading, asks, sentence, line)
        if item and not found and leads and leads[-1][1] and not MAY.match(block):
            asks = leads[-1][1]
            yield Sentence(page, heading, asks, block, line)
        if block.endswith(":"):
            leads.append((indent, asks))


def pages(checkout, revision):
    folders = [checkout / "docs/specification" / name for name in REVISIONS[revision]]
    folder = next((it for it in folders if it.is_dir()), None)
    if not folder:
        sys.exit(f"{checkout} has no folder docs/specification/{' or '.join(REVISIONS[revision])}")
    for path in sorted(folder.rglob("*.mdx")):
        yield path.relative_to(folder).with_suffix("").as_posix(), path.read_text(encoding="utf-8")


def draw(checkout):
    """Each sentence with its row, which has no verdict yet."""
    for revision in REVISIONS:
        count = collections.Counter()
        for page, text in pages(checkout, revision):
            for it in drawn(page, text):
                count[page, it.heading] += 1
                yield it, Row(revision, page, it.heading, str(count[page, it.heading]), digest(it.text), it.keyword, "?")


def read():
    rows = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return [Row(*row) for row in rows]


def place(row):
    return f"{row.revision} {row.page} “{row.heading}” {row.number} ({row.keyword})"


def compare(rows, fresh):
    """What the table lacks of the sentences that were drawn, and what it has too much."""
    bare = lambda row: row._replace(verdict="")
    known, there = {bare(row) for row in rows}, {bare(row) for row in fresh}
    texts = {(row.revision, row.page, row.digest) for row in rows}
    for row in fresh:
        if bare(row) not in known:
            moved = (row.revision, row.page, row.digest) in texts
            yield f"{place(row)}: {'is elsewhere in the table' if moved else 'is new, or has changed'}"
    for row in rows:
        if bare(row) not in there:
            yield f"{place(row)}: is not in the specification any more"


def update(rows, fresh):
    verdicts = {(row.revision, row.page, row.digest): row.verdict for row in rows}
    return [row._replace(verdict=verdicts.get((row.revision, row.page, row.digest), "?")) for row in fresh]


def rules(text):
    """Each rule of docs/rules.md with its level and the revisions that it is for."""
    return {row[0]: (row[1], row[2]) for row in re.findall(r"^\| `([^`]+)` \| ([^|]*) \| [^|]* \| ([^|]*) \|", text, re.M)}


def binds(revisions, revision):
    first, *last = re.findall(r"\d{4}-\d\d-\d\d", revisions) or ["0000-00-00", "9999-99-99"]
    return first <= revision <= ("9999-99-99" if "later" in revisions else (last or [first])[0])


def level(text, revision):
    """The level of a rule in a revision, as a number."""
    raised = [LEVELS[word] for word, since in re.findall(r"\b(must|should) from (\S+) on\b", text) if since <= revision]
    return max([LEVELS[re.match(r"\w+", text)[0]], *raised])


def reasons(text):
    return set(re.findall(r"^- \*\*([\w-]+)\*\*: \S", text, re.M))


def faults(rows, known, keys):
    """What is wrong in the table itself."""
    places = collections.Counter(row[:4] for row in rows)
    yield from (f"{' '.join(it)}: is there twice" for it, count in places.items() if count > 1)
    used = set()
    for row in rows:
        if row.verdict.startswith("reason:"):
            used.add(row.verdict[7:])
            if row.verdict[7:] not in keys:
                yield f"{place(row)}: docs/rules-not-judged.md has no reason {row.verdict[7:]}"
            continue
        for rule in row.verdict.split() or ["?"]:
            if rule == "?":
                yield f"{place(row)}: has neither a rule nor a reason"
            elif rule not in known:
                yield f"{place(row)}: docs/rules.md has no rule {rule}"
            elif not binds(known[rule][1], row.revision):
                yield f"{place(row)}: {rule} does not judge this revision"
    yield from (f"docs/rules-not-judged.md: no sentence has the reason {key}" for key in sorted(keys - used))


def notes(rows, known):
    """Obligations that are judged only by rules of a lower level."""
    for row in rows:
        levels = [level(known[rule][0], row.revision) for rule in row.verdict.split() if rule in known]
        if levels and max(levels) < 2 and not SOFT.match(row.keyword):
            yield f"note: {place(row)}: only by {row.verdict}, of a lower level"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", nargs="?", type=Path)
    for name in ("--table-only", "--update", "--print"):
        parser.add_argument(name, action="store_true")
    args = parser.parse_args()
    if not (args.checkout or args.table_only):
        parser.error("a checkout of the specification is needed, or --table-only")
    rows = read() if TABLE.exists() else []
    wrong = []
    if args.checkout:
        both = list(draw(args.checkout))
        if args.print:
            verdicts = {row[:5]: row.verdict for row in rows}
            for sentence, row in both:
                print(f"{place(row)} line {sentence.line}: {verdicts.get(row[:5], '?')}\n    {sentence.text}")
            return 0
        if args.update:
            rows = update(rows, [row for _, row in both])
            TABLE.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        wrong += compare(rows, [row for _, row in both])
    known = rules((ROOT / "docs/rules.md").read_text(encoding="utf-8"))
    wrong += faults(rows, known, reasons((ROOT / "docs/rules-not-judged.md").read_text(encoding="utf-8")))
    print(*notes(rows, known), *wrong, sep="\n")
    for revision in REVISIONS:
        kinds = collections.Counter(row.verdict[:7] == "reason:" for row in rows if row.revision == revision)
        print(f"{revision}: {kinds.total()} sentences, {kinds[False]} judged by rules, {kinds[True]} with a reason")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
