// Holds the answers in Node to what the program prints, on every recording of every case: node equal.mjs PROGRAM CASES
//
// Answers are equal byte for byte. Where the program refuses a recording, the error here has its code and line.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { check, ConcordError, convert, diff, identify, readText, show, summary } from "@mcp-concord/core";

const [, , program, cases] = process.argv;
const quiet = { onNote: () => {} };

/** The recordings of each case, as paths below the cases. */
function* recordings(folder = "") {
  const entries = readdirSync(join(cases, folder), { withFileTypes: true });
  for (const entry of entries.filter((entry) => entry.isDirectory())) yield* recordings(join(folder, entry.name));
  if (!entries.some(({ name }) => name === "case.toml")) return;
  const isData = (name) => name === "case.toml" || /^(meaning|identify)(\..+)?\.json$/.test(name);
  yield entries.filter((entry) => entry.isFile() && !isData(entry.name)).map(({ name }) => join(folder, name)).sort();
}

/**
 * Each question: the program's arguments and the function here. They are asked of one recording of each case, whose formats take
 * turns, since each starts the program once. `other` is another recording of the case.
 */
const QUESTIONS = [
  { asked: ({ path }) => ["read", path], answer: ({ path, bytes }) => readText(bytes, { name: path, ...quiet }) },
  { asked: ({ path }) => ["identify", "--output", "json", path], answer: ({ path, bytes }) => identify(bytes, { name: path, ...quiet }), parsed: true },
  { asked: ({ path, other }) => ["diff", "--output", "json", other.path, path], answer: ({ path, bytes, other }) => diff(other.bytes, bytes, { names: [other.path, path], ...quiet }).json },
  { asked: ({ path }) => ["convert", "--lossy", "--to", "har", path], answer: ({ path, bytes }) => Buffer.from(convert(bytes, "har", { name: path, lossy: true, ...quiet })).toString() },
  { asked: ({ path }) => ["show", path], answer: ({ path, bytes }) => show(bytes, "text", { name: path, ...quiet }) },
];

function printed(args) {
  return new Promise((resolve, reject) =>
    execFile(program, args, { cwd: cases, maxBuffer: 1 << 28, env: { ...process.env, NO_COLOR: "1" } }, (error, stdout, stderr) =>
      error && typeof error.code !== "number" ? reject(error) : resolve({ stdout, stderr, code: error?.code ?? 0 })),
  );
}

/** What is unequal, in words; null where nothing is. */
async function unequal({ asked, answer, parsed }, one) {
  const { stdout, stderr, code } = await printed(asked(one));
  let here;
  try {
    here = answer(one);
  } catch (error) {
    if (!(error instanceof ConcordError)) throw error;
    // Columns are not compared: those of the command line count the control characters of a line as it shows them.
    const place = error.line === null ? "" : `${error.recording}:${error.line}:`;
    // A recording that shows no format is refused by the command line in other words, which name its flag.
    const same = error.code === "unknown-format" ? stderr.includes("format") : stderr.includes(`error[${error.code}]`) && stderr.includes(place);
    return code !== 0 && same && stdout === "" ? null : `here ${error.message}\nthere ${code} ${stdout.slice(0, 200)} ${stderr}`;
  }
  return difference(parsed ? JSON.stringify(here) : here, parsed && stdout ? JSON.stringify(JSON.parse(stdout)) : stdout);
}

function difference(here, there) {
  if (here === there) return null;
  let at = 0;
  while (here[at] === there[at]) at++;
  return `from character ${at} on\nhere  ${here.slice(at, at + 200)}\nthere ${there.slice(at, at + 200)}`;
}

/** Findings and overviews of all recordings at once, by recording; the text of none is empty. */
async function ofAll(command, all, items) {
  const { stdout } = await printed([command, "--output", "json", ...all.map(({ path }) => path)]);
  const found = new Map();
  for (const [file, text] of items(stdout)) found.set(file, (found.get(file) ?? "") + text);
  return found;
}

function answered(answer) {
  try {
    return answer();
  } catch (error) {
    if (!(error instanceof ConcordError)) throw error;
    return "";
  }
}

const findings = (json) => json.split("\n").filter((line) => line.startsWith("{")).map((line) => [JSON.parse(line.replace(/,$/, "")).file, `${line.replace(/,$/, "")}\n`]);
const overviews = (json) => JSON.parse(json).map((overview) => [overview.file, JSON.stringify(overview)]);

const cased = [...recordings()].map((paths) => paths.map((path) => ({ path, bytes: readFileSync(join(cases, path)) })));
const all = cased.flat();
const faults = [];

const judged = await ofAll("check", all, findings);
const summed = await ofAll("summary", all, overviews);
for (const { path, bytes } of all) {
  const checked = answered(() => findings(check(bytes, { name: path }).json).map(([, line]) => line).join(""));
  faults.push([`check ${path}`, difference(checked, judged.get(path) ?? "")]);
  const overview = answered(() => JSON.stringify(summary(bytes, { name: path })));
  faults.push([`summary ${path}`, difference(overview, summed.get(path) ?? "")]);
}

const work = cased.flatMap((of, turn) => {
  const one = { ...of[turn % of.length], other: of[0] };
  return QUESTIONS.map((question) => [question, one]);
});
let next = 0;
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    while (next < work.length) {
      const [question, one] = work[next++];
      faults.push([question.asked(one).join(" "), await unequal(question, one)]);
    }
  }),
);

const wrong = faults.filter(([, fault]) => fault !== null);
for (const [asked, fault] of wrong.slice(0, 10)) console.error(`${asked}: ${fault}`);
console.log(`${faults.length} answers on ${all.length} recordings of ${cased.length} cases: ${wrong.length} are not what the program prints`);
process.exit(wrong.length === 0 && cased.length > 100 ? 0 : 1);
