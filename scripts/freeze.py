#!/usr/bin/env python3
"""Compares the program with an earlier one, by the digest of every command's output for all cases and recordings.

  scripts/freeze.py                       builds the program of the frozen commit, and compares target/release/mcp-concord with it
  scripts/freeze.py --sample 10           looks only at every tenth recording
  scripts/freeze.py --only check,convert  compares only these commands
  scripts/freeze.py --show NAME FILE      prints the difference of the two outputs for one file

Both programs read the files of the frozen commit, and the folders that are named after the options. Standard output, standard
error and exit code count. Exit code 1 if anything differs that is not in the list of intended differences.
"""
import argparse
import collections
import concurrent.futures
import difflib
import fnmatch
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FROZEN = Path(os.environ.get("CONCORD_FROZEN", ROOT / "target" / "frozen"))
COMMIT = "eeeee044443c95f6a84dd61fba6c28676804cf92"
TRANSCRIPTS = {".json", ".jsonl", ".har", ".log", ".txt", ".txtar", ".yaml"}
FORMATS = (
    "jsonrpc streamable-http http-sse mcp-replay inspector har mcp-rec mcporter mcp-recorder inspector-network "
    "directed-jsonl mcp-cassette agent-vcr txtar otlp-json"
).split()

# A row for each command over one file: its name, and its words with `{}` in place of the file.
OVER_A_FILE = {
    "summary": ["{}"],
    "read": ["read", "{}"],
    "read-calls": ["read", "--calls", "{}"],
    "read-lenient": ["read", "--lenient", "{}"],
    "identify": ["identify", "{}"],
    "identify-json": ["identify", "--output", "json", "{}"],
    "check": ["check", "{}"],
    "check-v": ["check", "-v", "{}"],
    "check-json": ["check", "--output", "json", "{}"],
    "check-sarif": ["check", "--output", "sarif", "{}"],
    "check-junit": ["check", "--output", "junit", "{}"],
    "check-ndjson": ["check", "--output", "ndjson", "{}"],
    "check-require": ["check", "--require", "2025-11-25", "{}"],
    "stats": ["stats", "--output", "json", "{}"],
    "show": ["show", "{}"],
    "show-all": ["show", "--all", "{}"],
    "show-svg": ["show", "--output", "svg", "{}"],
    "show-html": ["show", "--output", "html", "{}"],
    "redact": ["redact", "--preset", "common", "{}"],
    "surface": ["surface", "{}"],
} | {f"convert-{name}": ["convert", "--lossy", "--to", name, "{}"] for name in FORMATS}

# Commands without a file of their own.
ONCE = {
    "run": ["--quiet", "run"],
    "run-python": ["--quiet", "run", "--adapter", "python3 adapters/python/adapter.py"],
    "run-dialect": ["--quiet", "run", "--dialect", "typed-ids"],
    "run-faulty": ["run", "--exec", "python3 docs/examples/importer.py {file} {format}", "--filter", "ids/*", "--jobs", "1"],
    "check-folder": ["check", "cases/rules", "cases/recorded"],
    "summary-folder": ["cases/recorded"],
    "stats-folder": ["stats", "cases/recorded"],
    "explain": ["explain"],
    "surface-two": ["surface", "docs/examples/tools-1.lock", "docs/examples/tools-2.lock"],
    "unknown-command": ["sumary"],
    "unknown-file": ["check", "no-such-file.har"],
    "unknown-option": ["check", "--colour", "x"],
    "bad-seed": ["fuzz", "--seed", "x"],
    "no-arguments": [],
}

# What differs since the frozen commit and is meant to: command, file and why, each a pattern of a shell.
INTENDED = [line.split("\t") for line in (ROOT / "scripts" / "freeze.tsv").read_text().splitlines() if not line.startswith("#")]


def digest(program, words, inputs):
    ran = subprocess.run([program, *words], cwd=inputs, stdin=subprocess.DEVNULL, capture_output=True, env=environment())
    return ran.returncode, ran.stdout, ran.stderr


def environment():
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return kept | {"NO_COLOR": "1", "COLUMNS": "120"}


def short(answer):
    code, out, err = answer
    return hashlib.sha256(b"%d\0%s\0%s" % (code, out, err)).hexdigest()[:16]


def frozen_files():
    inputs = FROZEN / "input"
    if not inputs.exists():
        inputs.mkdir(parents=True)
        archive = subprocess.run(["git", "archive", COMMIT], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x"], cwd=inputs, input=archive, check=True)
    return inputs


def oracle(inputs):
    program = Path(os.environ.get("CONCORD_ORACLE", FROZEN / "build" / "release" / "mcp-concord"))
    if not program.exists():
        words = ["cargo", "build", "--release", "--bin", "mcp-concord", "--target-dir", FROZEN / "build"]
        subprocess.run(words, cwd=inputs, check=True)
    return program.resolve()


def jobs(inputs, folders, sample):
    found = sorted(path for top in [inputs / "cases", *folders] for path in top.rglob("*") if path.suffix in TRANSCRIPTS)
    files = [path for path in found if path.is_file() and not path.name.startswith(("meaning", "identify."))]
    for path in files[::sample]:
        file = str(path.relative_to(inputs)) if path.is_relative_to(inputs) else str(path)
        for name, words in OVER_A_FILE.items():
            yield name, file, [file if word == "{}" else word for word in words]
        beside = [other for other in sorted(path.parent.iterdir()) if other in files and other > path]
        if beside:
            other = str(beside[0].relative_to(inputs)) if beside[0].is_relative_to(inputs) else str(beside[0])
            yield "diff", file, ["diff", file, other]
            yield "diff-json", file, ["diff", "--output", "json", file, other]
    for name, words in ONCE.items():
        yield name, "-", words
    ids = (inputs / "docs" / "rules.md").read_text().split("`")[1::2]
    for name in sorted({name for name in ids if "." in name and " " not in name})[:: max(1, sample // 4)]:
        yield "explain", name, ["explain", name]


def answers(program, work, inputs):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        digests = pool.map(lambda job: (job[:2], short(digest(program, job[2], inputs))), work, chunksize=64)
        return dict(digests)


def remembered(program, work, inputs):
    """The oracle's digests, kept between two runs: it does not change."""
    kept = FROZEN / "digests.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}
    key = lambda job: json.dumps(job[2])
    missing = [job for job in work if key(job) not in known]
    fresh = answers(program, missing, inputs)
    known |= {key(job): fresh[job[:2]] for job in missing}
    if missing:
        with tempfile.NamedTemporaryFile("w", dir=FROZEN, delete=False) as file:
            json.dump(known, file)
        os.replace(file.name, kept)
    return {job[:2]: known[key(job)] for job in work}


def intended(name, file):
    return next((row[2] for row in INTENDED if fnmatch.fnmatch(name, row[0]) and fnmatch.fnmatch(file, row[1])), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "target" / "release" / "mcp-concord")
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", nargs=2)
    parser.add_argument("folders", nargs="*", type=Path)
    options = parser.parse_args()
    inputs = frozen_files()
    before, after = oracle(inputs), options.program.resolve()
    work = list(jobs(inputs, [folder.resolve() for folder in options.folders], options.sample))
    if options.show:
        words = next(job[2] for job in work if list(job[:2]) == options.show)
        (code, *old), (other, *new) = digest(before, words, inputs), digest(after, words, inputs)
        print(f"exit codes {code} and {other}")
        for one, two in zip(old, new):
            lines = [text.decode(errors="replace").splitlines() for text in (one, two)]
            sys.stdout.writelines(line + "\n" for line in difflib.unified_diff(*lines, "before", "after", lineterm=""))
        return 0
    only = options.only.split(",") if options.only else None
    work = [job for job in work if not only or any(job[0] == name or job[0].startswith(f"{name}-") for name in only)]
    old, new = remembered(before, work, inputs), answers(after, work, inputs)
    counts, reasons, wrong = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    for (name, file), value in old.items():
        counts[name] += 1
        if new[name, file] != value:
            why = intended(name, file)
            if why:
                reasons[why] += 1
            else:
                wrong[name].append(file)
    for name, count in sorted(counts.items()):
        print(f"{name}: {count} compared, {len(wrong[name])} differ")
        for file in wrong[name][:3]:
            print(f"  {file}")
    for why, count in reasons.most_common():
        print(f"intended, {count}: {why}")
    faults = sum(map(len, wrong.values()))
    print(f"{sum(counts.values())} answers, {faults} differ and are not meant to")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
