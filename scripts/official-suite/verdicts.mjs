// Prints the suite's verdicts, one line per check, so that two runs can be compared: node verdicts.mjs FOLDER
// Times, ports and values that a server generates for each session are left out.

import { globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

const stamp = /-\d{4}-\d\d-\d\dT[\d-]+Z$/;
const plain = (text) => text.replace(/\b(localhost|127\.0\.0\.1):\d+/g, "HOST").replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, "ID");

const lines = globSync(`${process.argv[2]}/**/checks.json`).flatMap((file) => {
  const scenario = dirname(file).slice(process.argv[2].length + 1).replace(stamp, "").replace(/^server-/, "");
  return JSON.parse(readFileSync(file)).filter(({ status }) => status !== "INFO").map(
    ({ id, status, errorMessage = "" }) => `${status}  ${scenario}  ${id}  ${plain(errorMessage)}`.trim(),
  );
});
process.stdout.write(lines.sort().map((line) => `${line}\n`).join(""));
