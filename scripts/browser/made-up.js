// Records that no run wrote: one of 5,000 cases with 10,000 readings, 200 of which fell short, the same before 20 of
// them did, one of an importer with a hostile name, one of nothing but passes, and one of passes and known failures. The
// same in every run.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];
const HOSTILE = "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">\u202e\u2028";
const FORMATS = ["jsonrpc", "har"];
const CLAUSES = ["COR-FIRST", "EQ-ARGS", "EQ-COUNT", "ID-NULL", "SSE-EVENT"];
const suite = { version: "0.0.0", digest: "sha256:" + "0".repeat(64), contract: "1" };

const whole = (number) => {
  const events = Array.from({ length: 8 }, (_, at) => `{"kind":"request","id":"${at}","method":"m/${number}","params":{"n":${at}}}\n`);
  const actual = events.slice();
  actual[3] = actual[3].replace('"id":"3"', `"id":"3.0${HOSTILE}"`);
  return { expected: events.join(""), actual: actual.join("") };
};

// Every fiftieth reading falls short; each kind of verdict is there.
const short = ["fail", "crash", "timeout", "garbled", "unstable"];
const verdict = (reading, before) => {
  if (reading % 50 === 0) return before && reading % 500 === 0 ? "pass" : short[(reading / 50) % short.length];
  if (reading % 50 === 1) return "skip";
  return reading % 50 === 2 ? "expected-fail" : "pass";
};

const record = (name, cases, verdict) => {
  const results = [];
  const notes = {};
  for (let number = 0; number < cases; number++) {
    const name = `topic-${number % 40}/case-${String(number).padStart(5, "0")}`;
    const note = { title: `Case ${number} holds what it shows`, reason: "What to look at when an importer falls short here." };
    for (const [at, format] of FORMATS.entries()) {
      const reading = number * FORMATS.length + at;
      const line = {
        case: name, format, file: `${name}/${format}.json`, verdict: verdict(reading),
        clauses: [CLAUSES[number % CLAUSES.length]], silent_loss: reading % 1000 === 0 && verdict(reading) !== "pass",
      };
      if (line.verdict === "skip") line.message = "a format that cannot carry it";
      if (line.verdict === "expected-fail") line.known = { reason: "known, and why" };
      if (short.includes(line.verdict)) {
        line.message = `not this ${HOSTILE}`;
        line.difference = { at: "/events/3/id", expected: "3", actual: "3.0" };
        line.place = { line: 4, pointer: "/id" };
        line.whole = whole(number);
        note.transcripts = Object.fromEntries(FORMATS.map((format) => [format, `${whole(number).expected}${HOSTILE}\n`]));
        note.lines = Object.fromEntries(FORMATS.map((format) => [format, [4]]));
      }
      results.push(line);
    }
    notes[name] = note;
  }
  results.sort((a, b) => (a.case < b.case ? -1 : a.case > b.case ? 1 : 0));
  const totals = {};
  for (const line of results) totals[line.verdict] = (totals[line.verdict] || 0) + 1;
  const clauses = Object.fromEntries(CLAUSES.map((id) => [id, `What ${id} asks`]));
  const implementation = { name, version: "1.0", level: "events", digest: `sha256:${"0".repeat(64)}` };
  return { schema: 1, suite, implementation, date: "2025-11-27", expires: name.startsWith("strange") ? "2025-12-27" : "2099-12-31", planned: results.length, totals, cases: notes, clauses, results };
};

const keep = (name, value) => writeFileSync(join(folder, name), JSON.stringify(value));
keep("large.json", record("made-up", 5000, (reading) => verdict(reading, false)));
keep("before.json", record("made-up", 5000, (reading) => verdict(reading, true)));
keep("other.json", record(`strange ${HOSTILE}`, 200, (reading) => verdict(reading, false)));
keep("clean.json", record("clean", 40, () => "pass"));
keep("excused.json", record("excused", 40, (reading) => (reading % 20 ? "pass" : "expected-fail")));
