// What the suite and `check` said of the same sessions, a row for each scenario: node side-by-side.mjs FOLDER
//
// It knows the suite's results, the findings of `check` and the recordings. Of each of the suite's runs against a server there
// are several, one for each session; a finding belongs to the scenario under way when its exchange began.

import { globSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";

const folder = process.argv[2];
const json = (file) => JSON.parse(readFileSync(file));
const count = (list) => list.reduce((counts, each) => counts.set(each, (counts.get(each) ?? 0) + 1), new Map());
const counted = (list) => [...count(list)].map(([what, n]) => `${n} ${what}`).sort();
const row = (...cells) => `  ${cells[0].padEnd(36)}  ${cells[1].padEnd(22)}  ${cells[2]}`.trimEnd();

const words = { SUCCESS: "passed", FAILURE: "failed", WARNING: "warned of", SKIPPED: "skipped" };
const levels = { fail: "error", warn: "warning", info: "note" };
const titles = {
  server: "a server",
  stdio: "the same server over stdio",
  filesystem: "another server over stdio",
  client: "a client",
};
const scenarios = (side) => globSync(`${folder}/${side}/recorded/**/checks.json`).map((file) => {
  const [, full, day, time] = /^(.*)-(\d{4}-\d\d-\d\d)T([\d-]+)Z$/.exec(basename(dirname(file)));
  const [hours, minutes, seconds, rest] = time.split("-");
  const name = side === "client" ? full : full.replace(/^server-/, "");
  const said = json(file).filter(({ status }) => status !== "INFO").map(({ status }) => words[status]);
  return { name, said, began: Date.parse(`${day}T${hours}:${minutes}:${seconds}.${rest}Z`), rules: [] };
}).sort((one, other) => one.began - other.began);

const findings = json(`${folder}/found.json`).filter(({ verdict }) => verdict !== "inconclusive").map((finding) => ({ ...finding, recording: basename(finding.file, ".har") }));
const archives = new Map();
const entries = (file) => archives.get(file) ?? archives.set(file, json(file).log.entries).get(file);

const tried = Object.fromEntries(Object.keys(titles).map((side) => [side, scenarios(side)]));
for (const { file, recording, rule, verdict, party, pointer } of findings) {
  const began = () => Date.parse(entries(file)[pointer.split("/")[3]].startedDateTime);
  const [, side] = /^(server|stdio|filesystem)(-\d+)?$/.exec(recording) ?? [];
  const scenario = side
    ? tried[side].findLast((scenario) => scenario.began <= began())
    : tried.client.find(({ name }) => name === recording);
  scenario.rules.push(`${levels[verdict]} ${rule} (${party})`);
}

// Verdicts on the server that it gets over one transport only.
function otherwise() {
  const [http, stdio] = ["server", "stdio"].map((side) => readFileSync(`${folder}/${side}/recorded.verdicts`, "utf8").trim().split("\n"));
  for (const [name, one, other] of [["its own HTTP", http, stdio], ["stdio", stdio, http]]) {
    console.log(`only over ${name}:\n`);
    for (const line of one) if (!other.includes(line)) console.log(`  ${line}`);
    console.log("");
  }
}

for (const [side, listed] of Object.entries(tried)) {
  const all = listed.flatMap(({ said }) => said);
  const rules = listed.flatMap(({ rules }) => rules);
  console.log(`the suite tries ${titles[side]}: ${listed.length} scenarios, ${counted(all).join(", ")}`);
  console.log(`check on the same: ${rules.length} findings of ${count(rules).size} rules\n`);
  for (const { name, said, rules } of listed) {
    const [first = "", ...others] = counted(rules);
    console.log(row(name, counted(said).join(", "), first));
    for (const other of others) console.log(row("", "", other));
  }
  console.log("");
  if (side === "stdio") otherwise();
}
