#!/usr/bin/env python3
"""Probes real servers and clients of npm and PyPI, and compares the findings with judgements and a page: scripts/wild.py [FLAG...]

scripts/wild has the programs (programs.toml), their pinned versions (package-lock.json, python/*.txt), and a person's judgement of
each finding (judgements.toml): true, contested or false by the specification's text. What other checkers report of the servers over
Streamable HTTP is judged there too. docs/probe-in-the-wild.md has the tables.

  --home DIR     install here, and keep what is installed (default: a temporary folder)
  --keep DIR     keep recordings, reports and results.json here
  --only GLOB    only programs with such an id; neither the page nor stale judgements are checked (repeatable)
  --from FILE    run nothing, and judge the results.json of an earlier run
  --write        write the tables into the page

Exit code 0: every finding has its judgement, and the page has these tables (times may differ); 1: something is not so, and the last
lines say what; 2: the command line or a file cannot be used; 4: npm or Python cannot install a package, and the last line says why.
MCP_CONCORD names the program, if it is not target/release/mcp-concord. Installing takes 1.6 GB and about five minutes, a run
about seven.
"""

import argparse
import collections
import fnmatch
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
WILD = ROOT / "scripts" / "wild"
PAGE = ROOT / "docs" / "probe-in-the-wild.md"
NODE = "22.23.3"
VERDICTS = ["true", "contested", "false"]
LEVELS = {"fail": "error", "warn": "warning"}
SECONDS = 240


class Unavailable(Exception):
    """A package cannot be installed."""


def log(text):
    print(text, file=sys.stderr, flush=True)


# Installing


def install(home):
    for tool in ("npm", "node"):
        if not shutil.which(tool):
            raise Unavailable(f"{tool} is not installed")
    npm = home / "npm"
    npm.mkdir(parents=True, exist_ok=True)
    lock = WILD / "package-lock.json"
    if not same(lock, npm / "installed"):
        for name in ("package.json", "package-lock.json"):
            shutil.copy(WILD / name, npm)
        must(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], npm)
        platform = subprocess.run(
            ["node", "-p", "`node-${process.platform}-${process.arch}`"], check=True, capture_output=True, text=True
        ).stdout.strip()
        must(["npm", "install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", f"{platform}@{NODE}"], npm)
        node = npm / "node_modules" / ".bin" / "node"
        node.unlink(missing_ok=True)
        node.symlink_to(f"../{platform}/bin/node")
        shutil.copy(lock, npm / "installed")
    for wanted in sorted((WILD / "python").glob("*.txt")):
        venv = home / "python" / wanted.stem
        if same(wanted, venv / "installed"):
            continue
        shutil.rmtree(venv, ignore_errors=True)
        must([sys.executable, "-m", "venv", str(venv)], home)
        must([str(venv / "bin" / "pip"), "install", "--quiet", "--no-deps", "--disable-pip-version-check", "-r", str(wanted)], home)
        shutil.copy(wanted, venv / "installed")
    # Node looks for packages beside the script that imports them.
    shutil.copy(WILD / "client.mjs", npm)
    shutil.copy(WILD / "client.py", home)
    shutil.copy(ROOT / "scripts" / "official-suite" / "loopback.mjs", home)


def same(one, other):
    return other.is_file() and one.read_bytes() == other.read_bytes()


def must(command, folder):
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{command[0]} took longer than 15 minutes") from None
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        errors = [line for line in lines if re.match(r"(npm err\w* (?!code|errno|syscall|A complete log)|ERROR)", line, re.I)]
        raise Unavailable(f"{pathlib.Path(command[0]).name} failed: {(errors or lines or ['it printed nothing'])[0].strip()}")


def versions():
    """The pinned version of each package, by registry and name."""
    npm = json.loads((WILD / "package-lock.json").read_text())["packages"]
    found = {("npm", name.removeprefix("node_modules/")): one["version"] for name, one in npm.items() if name}
    for file in (WILD / "python").glob("*.txt"):
        for line in file.read_text().split():
            name, _, version = line.partition("==")
            found["PyPI", file.stem, name.lower()] = version
    return found


def version_of(program, pinned):
    if program["from"] == "npm":
        return pinned["npm", program["package"]]
    return pinned["PyPI", program["python"], program["package"].lower()]


# Running


class Runner:
    def __init__(self, home, keep, concord):
        self.home, self.keep, self.concord = home, keep, concord
        self.mark = f"{os.getpid()}-{time.time_ns()}"
        self.files = keep / "files"
        self.user = keep / "user"
        for folder in (self.files, self.user):
            folder.mkdir(parents=True, exist_ok=True)
        (self.files / "file.txt").write_text("text\n")
        # A cluster that nobody serves: what asks it fails at once.
        kubeconfig = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "none", "cluster": {"server": "http://127.0.0.1:9"}}],
            "users": [{"name": "none", "user": {}}],
            "contexts": [{"name": "none", "context": {"cluster": "none", "user": "none"}}],
            "current-context": "none",
        }
        (self.files / "kubeconfig").write_text(json.dumps(kubeconfig))

    def environment(self, program, port=None):
        """No account and no network: what is outside of this machine is behind a proxy that is not there."""
        path = [str(self.home / "npm" / "node_modules" / ".bin"), os.environ["PATH"]]
        if "python" in program:
            path.insert(0, str(self.home / "python" / program["python"] / "bin"))
        environment = {
            "PATH": os.pathsep.join(path),
            "HOME": str(self.user),
            "LANG": "C.UTF-8",
            "CI": "1",
            "NO_COLOR": "1",
            "PYTHONUNBUFFERED": "1",
            "MCP_USE_ANONYMIZED_TELEMETRY": "false",
            "MEMORY_FILE_PATH": str(self.files / f"{program['id']}.json"),
            "CONCORD_WILD": f"{self.mark}-{'server' if port else 'run'}",
        }
        for name in ("HTTP_PROXY", "HTTPS_PROXY"):
            environment[name] = environment[name.lower()] = "http://127.0.0.1:9"
        environment["NO_PROXY"] = environment["no_proxy"] = "127.0.0.1,localhost"
        if port:
            environment["PORT"] = str(port)
        if program.get("loopback"):
            environment["NODE_OPTIONS"] = f"--import={self.home / 'loopback.mjs'}"
        return environment

    def words(self, command, **values):
        values = {"files": self.files, "home": self.home, **values}
        return [re.sub(r"\{(\w+)\}", lambda m: str(values[m[1]]) if m[1] in values else m[0], word) for word in command]

    def run(self, command, environment, seconds, name):
        """Exit code (None: over time), standard output and error, seconds, and the processes that were left behind."""
        out, err = self.keep / f"{name}.out", self.keep / f"{name}.err"
        began = time.monotonic()
        with open(out, "wb") as stdout, open(err, "wb") as stderr:
            child = subprocess.Popen(
                command, cwd=self.files, env=environment, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True
            )
            try:
                code = child.wait(seconds)
            except subprocess.TimeoutExpired:
                code = None
                end(child)
            except BaseException:
                end(child)
                raise
        took = time.monotonic() - began
        left = self.marked("run")
        named = sorted({name_of(pid) for pid in left})
        for pid in left:
            quietly_kill(pid)
        return code, out.read_text(errors="replace"), err.read_text(errors="replace"), took, named

    def marked(self, kind):
        """The living processes that this run started, servers ("server") or others ("run"), where the system shows them."""
        found = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if f"CONCORD_WILD={self.mark}-{kind}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    if (folder / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                        found.append(int(folder.name))
            except OSError:
                pass
        return found

    def serve(self, program):
        return Served(self, program)

    def probe(self, program, server):
        folder = self.keep / program["id"]
        base = [self.concord, "probe", "--output", "ndjson", "-o", str(folder)]
        environment = self.environment(program)
        seconds = program.get("seconds", SECONDS)
        if not server:
            values = {"server": "{server}", "url": "{url}"}
            listen = ["--listen", "0"] if program.get("transport") else []
            command = [*base, "--as", "server", *listen, "--", *self.words(program["command"], **values)]
            return self.result(program, *self.run(command, environment, seconds, program["id"]))
        if "url" not in program:
            return self.result(program, *self.run([*base, "--", *self.words(program["command"])], environment, seconds, program["id"]))
        with self.serve(program) as url:
            return self.result(program, *self.run([*base, "--url", url], environment, seconds, program["id"]))

    def result(self, program, code, out, err, took, left):
        lines = [json.loads(line) for line in out.splitlines()]
        found = collections.Counter()
        example = {}
        for line in lines:
            for finding in line["findings"]:
                if finding["verdict"] in LEVELS:
                    key = finding["rule"], LEVELS[finding["verdict"]]
                    found[key] += 1
                    example.setdefault(key, finding["message"])
        speaks = re.search(r"^note: .*; the server speaks (.*)$", err, re.M)
        revisions = speaks[1].split(", ") if speaks else sorted({line["revision"] for line in lines if line["revision"]})
        problems = [line["problem"] for line in lines if line["problem"]]
        if code is None:
            problems.append("it took longer than its time limit")
        elif code not in (0, 1):
            problems.append(f"exit code {code}: {err.strip().splitlines()[-1] if err.strip() else 'nothing on standard error'}")
        if not lines and not problems:
            problems.append("nothing was recorded")
        if left:
            problems.append(f"processes were left behind: {', '.join(left)}")
        return {
            "revisions": revisions,
            "findings": [
                {"rule": rule, "level": level, "times": times, "message": example[rule, level]} for (rule, level), times in sorted(found.items())
            ],
            "seconds": round(took, 1),
            "problems": problems,
        }

    def check(self, checker, program):
        name = f"{program['id']}.{checker['report']}"
        report = self.keep / name
        with self.serve(program) as url:
            command = self.words(checker["command"], url=url, report=report)
            environment = {**self.environment(program), **self.environment(checker)}
            code, out, err, took, _ = self.run(command, environment, SECONDS, name)
        try:
            reported = {"official": official, "halflist": halflist, "lighthouse": lighthouse}[checker["report"]](report, out)
        except (OSError, ValueError, KeyError) as error:
            reported = None
            said = [line for line in (out + err).splitlines() if line.strip()]
            log(f"  {checker['id']}: no report ({error}); {said[-1] if said else 'it printed nothing'}")
        if code is None:
            log(f"  {checker['id']}: took longer than {SECONDS} s")
        return {"reports": reported, "seconds": round(took, 1)}


class Served:
    """A server that listens on a free port while it is entered."""

    def __init__(self, runner, program):
        self.runner, self.program = runner, program

    def __enter__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        runner, program = self.runner, self.program
        self.file = open(runner.keep / f"{program['id']}.server", "ab")
        command = runner.words(program["command"], port=port)
        self.child = subprocess.Popen(
            command,
            cwd=runner.files,
            env=runner.environment(program, port),
            stdin=subprocess.DEVNULL,
            stdout=self.file,
            stderr=self.file,
            start_new_session=True,
        )
        until = time.monotonic() + 60
        while time.monotonic() < until and self.child.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return program["url"].replace("{port}", str(port))
            except OSError:
                time.sleep(0.1)
        self.__exit__()
        raise RuntimeError(f"{program['id']} does not listen on its port; what it said is in {self.file.name}")

    def __exit__(self, *_):
        end(self.child)
        for pid in self.runner.marked("server"):
            quietly_kill(pid)
        self.file.close()


def end(child):
    for number, seconds in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            pass
        try:
            child.wait(seconds)
            return
        except subprocess.TimeoutExpired:
            pass


def quietly_kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def name_of(pid):
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        return " ".join(pathlib.Path(word).name for word in words[:2] if word)
    except OSError:
        return str(pid)


# Other checkers' reports: what failed or was warned of, with what was said


def official(report, _):
    found = {}
    for file in sorted(report.rglob("checks.json")):
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", file.parent.name).removeprefix("server-")
        for check in json.loads(file.read_text()):
            if check["status"] in ("FAILURE", "WARNING"):
                found.setdefault(f"{scenario}/{check['id']}", check.get("errorMessage", ""))
    if not list(report.rglob("checks.json")):
        raise ValueError("no scenario was run")
    return found


def halflist(_, out):
    said = json.loads(out)
    return {
        f"{suite['name']}/{check['name']}": check["message"] or ""
        for suite in said["suites"]
        for check in suite["checks"]
        if check["status"] not in ("PASS", "SKIP")
    }


def lighthouse(report, _):
    rows = re.findall(r"^\| (\w+) \| `([\w-]+)` \| \w+ \| \w+ \| (.*?) \| \d+ ms \|$", report.read_text(), re.M)
    if not rows:
        raise ValueError("the report has no checks")
    return {check: message for status, check, message in rows if status != "Passed"}


# Judging


class Judgements:
    def __init__(self, path):
        data = tomllib.loads(path.read_text())
        self.findings, self.reports = data.get("finding", []), data.get("report", [])
        self.used = set()
        for one in [*self.findings, *self.reports]:
            if one["verdict"] not in VERDICTS or not one["reason"].strip():
                raise ValueError(f"{path.name}: verdict and reason are needed: {one}")

    def of(self, entries, **values):
        for index, entry in enumerate(entries):
            if all(any(fnmatch.fnmatchcase(value, glob) for glob in globs(entry, key)) for key, value in values.items()):
                self.used.add((id(entries), index))
                return entry
        return None

    def stale(self):
        for entries, names in ((self.findings, ("program", "rule", "level")), (self.reports, ("checker", "program", "check"))):
            for index, entry in enumerate(entries):
                if (id(entries), index) not in self.used and not entry.get("sometimes"):
                    yield " ".join(glob for name in names if name in entry for glob in globs(entry, name))


def globs(entry, key):
    """One glob or a list of them; everything where nothing is said."""
    found = entry.get(key, "*")
    return found if isinstance(found, list) else [found]


def judge(results, judgements):
    """Gives each finding and report its judgement; yields what is wrong."""
    for id, result in results["programs"].items():
        for problem in result["problems"]:
            yield f"{id}: {problem}"
        for finding in result["findings"]:
            entry = judgements.of(judgements.findings, program=id, rule=finding["rule"], level=finding["level"])
            finding["judged"] = entry
            if entry is None:
                yield f"{id}: {finding['level']} {finding['rule']} has no judgement: {finding['message']}"
            elif entry["verdict"] == "false" and finding["level"] == "error":
                yield f"{id}: the error {finding['rule']} is false: {entry['reason']}"
    for checker, by_program in results["checkers"].items():
        for id, result in by_program.items():
            result["judged"] = {}
            for check, message in (result["reports"] or {}).items():
                entry = judgements.of(judgements.reports, checker=checker, program=id, check=check)
                result["judged"][check] = entry
                if entry is None:
                    yield f"{id}: {checker}: {check} has no judgement: {message}"


# The page


def table(head, lines):
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    yield from ("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def counted(findings, level):
    of_level = [one for one in findings if one["level"] == level]
    return ", ".join(f"`{one['rule']}`" + (f" × {one['times']}" if one["times"] > 1 else "") for one in of_level) or "none"


def verdicts(findings, level):
    """How many kinds are true, contested and false."""
    kinds = collections.Counter(one["judged"]["verdict"] for one in findings if one["level"] == level and one["judged"])
    return ", ".join(f"{kinds[verdict]} {verdict}" for verdict in VERDICTS)


def programs_table(programs, results, pinned):
    for role in ("server", "client"):
        ours = [one for one in programs[role] if one["id"] in results["programs"]]
        found = [finding for one in ours for finding in results["programs"][one["id"]]["findings"]]
        packages = {(one["from"], one["package"]) for one in ours}
        yield f"### {role.title()}s"
        yield ""
        yield f"{len(packages)} packages, {len(ours)} times probed. Kinds of errors: {verdicts(found, 'error')}; of warnings: {verdicts(found, 'warning')}."
        yield ""
        lines = []
        for one in ours:
            result = results["programs"][one["id"]]
            lines.append(
                [
                    f"{one['package']} {version_of(one, pinned)} ({one['from']})",
                    one.get("transport", "stdio"),
                    ", ".join(result["revisions"]),
                    counted(result["findings"], "error"),
                    counted(result["findings"], "warning"),
                    f"{result['seconds']:.0f} s",
                ]
            )
        yield from table(["program", "transport", "revisions", "errors", "warnings", "time"], lines)
        yield ""


def judged_table(results):
    kinds = {}
    for id, result in results["programs"].items():
        for finding in result["findings"]:
            entry = finding["judged"]
            if entry:
                kinds.setdefault((finding["level"], finding["rule"], entry["verdict"], entry["reason"]), []).append(id)
    lines = [[level, f"`{rule}`", verdict, len(ids), reason] for (level, rule, verdict, reason), ids in sorted(kinds.items())]
    yield from table(["level", "rule", "judged", "programs", "why"], lines)


def side_by_side(programs, results):
    names = ["`probe`", *results["checkers"]]
    http = [one["id"] for one in programs["server"] if all(one["id"] in of for of in results["checkers"].values())]
    totals = {name: collections.Counter() for name in names}
    lines = []
    for id in http:
        seen = {}
        probe = results["programs"][id]
        seen["`probe`"] = [(one["judged"]["verdict"], one["rule"]) for one in probe["findings"] if one["judged"]], probe["seconds"], True
        for name, by_program in results["checkers"].items():
            one = by_program[id]
            kinds = {
                (entry["verdict"], entry.get("fault", check) if entry["verdict"] != "false" else check)
                for check, entry in one["judged"].items()
                if entry
            }
            seen[name] = sorted(kinds), one["seconds"], one["reports"] is not None
        true = {fault for kinds, _, _ in seen.values() for verdict, fault in kinds if verdict == "true"}
        for name in names:
            kinds, seconds, reached = seen[name]
            found = {fault for verdict, fault in kinds if verdict == "true"}
            numbers = {
                "servers": int(reached),
                "found": len(found),
                "contested": sum(verdict == "contested" for verdict, _ in kinds),
                "false": sum(verdict == "false" for verdict, _ in kinds),
                "missed": len(true - found),
            }
            totals[name].update({**numbers, "seconds": seconds})
            cells = [numbers["found"], numbers["contested"], numbers["false"]] if reached else ["no report", "", ""]
            lines.append([id, name, *cells, numbers["missed"], f"{seconds:.0f} s"])
    head = ["found", "contested", "false", "missed", "time"]
    summary = [
        [name, f"{total['servers']} of {len(http)}", total["found"], total["contested"], total["false"], total["missed"], f"{total['seconds']:.0f} s"]
        for name, total in totals.items()
    ]
    yield from table(["checker", "servers", *head], summary)
    yield ""
    yield from table(["server", "checker", *head], lines)
    yield ""
    yield "What the others reported:"
    yield ""
    kinds = {}
    for name, by_program in results["checkers"].items():
        for id, one in by_program.items():
            for check, entry in one["judged"].items():
                if entry:
                    kinds.setdefault((name, entry["verdict"], entry.get("fault", ""), entry["reason"]), set()).add((id, check))
    lines = [[name, verdict, len(seen), f"`{fault}`" if fault else "", reason] for (name, verdict, fault, reason), seen in sorted(kinds.items())]
    yield from table(["checker", "judged", "reports", "fault", "why"], lines)


def tables(programs, results, pinned):
    return {
        "programs": [*programs_table(programs, results, pinned), "### What was found", "", *judged_table(results)],
        "checkers": list(side_by_side(programs, results)),
    }


def marked_page(text, parts):
    for name, lines in parts.items():
        pattern = re.compile(rf"(<!-- {name}: written by scripts/wild.py -->\n).*?(<!-- end of {name} -->)", re.S)
        if not pattern.search(text):
            raise ValueError(f"{PAGE.name} has no markers for {name}")
        text = pattern.sub(lambda m: m[1] + "\n".join(lines).strip() + "\n" + m[2], text)
    return text


def timeless(text):
    """Times differ from run to run."""
    return re.sub(r"\| \d+ s \|$", "| |", text, flags=re.M)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--only", action="append", metavar="GLOB")
    parser.add_argument("--from", dest="earlier", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    programs = tomllib.loads((WILD / "programs.toml").read_text())
    pinned = versions()
    judgements = Judgements(WILD / "judgements.toml")
    with tempfile.TemporaryDirectory(prefix="wild-", ignore_cleanup_errors=True) as temporary:
        results = json.loads(options.earlier.read_text()) if options.earlier else run(programs, options, pathlib.Path(temporary))
    wrong = list(judge(results, judgements))
    parts = tables(programs, results, pinned)
    whole = not options.only
    if whole:
        wrong += [f"a judgement is stale: {name}" for name in judgements.stale()]
    page = PAGE.read_text()
    written = marked_page(page, parts)
    if options.write and whole:
        PAGE.write_text(written)
    elif whole and timeless(written) != timeless(page):
        wrong.append(f"{PAGE.name} has other tables; --write writes these")
    for lines in parts.values():
        print("\n".join(lines))
    for line in wrong:
        log(f"wild: {line}")
    return 1 if wrong else 0


def run(programs, options, temporary):
    concord = os.environ.get("MCP_CONCORD") or str(ROOT / "target" / "release" / "mcp-concord")
    if not os.access(concord, os.X_OK):
        raise ValueError(f"the program is not there: {concord}")
    home = (options.home or temporary / "home").resolve()
    keep = (options.keep or temporary / "keep").resolve()
    if keep.exists() and any(keep.iterdir()):
        raise ValueError(f"{keep} is not empty")
    keep.mkdir(parents=True, exist_ok=True)
    install(home)
    runner = Runner(home, keep, os.path.realpath(concord))

    def wanted(one):
        return not options.only or any(fnmatch.fnmatchcase(one["id"], glob) for glob in options.only)

    results = {"programs": {}, "checkers": {checker["id"]: {} for checker in programs["checker"]}}
    for role in ("server", "client"):
        for one in filter(wanted, programs[role]):
            result = runner.probe(one, role == "server")
            results["programs"][one["id"]] = result
            log(f"{one['id']}: {len(result['findings'])} kinds, {result['seconds']} s {'; '.join(result['problems'])}")
    for one in filter(wanted, programs["server"]):
        if one.get("transport") == "Streamable HTTP":
            for checker in programs["checker"]:
                result = runner.check(checker, one)
                results["checkers"][checker["id"]][one["id"]] = result
                log(f"{one['id']}: {checker['id']}: {len(result['reports'] or {})} reports, {result['seconds']} s")
            (keep / "results.json").write_text(json.dumps(results, indent=1))
    (keep / "results.json").write_text(json.dumps(results, indent=1))
    return results


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        sys.exit(main())
    except Unavailable as error:
        print(f"nothing was probed: {error}")
        sys.exit(4)
    except KeyboardInterrupt:
        sys.exit(130)
    except (OSError, ValueError, RuntimeError) as error:
        log(f"wild: {error}")
        sys.exit(2)
