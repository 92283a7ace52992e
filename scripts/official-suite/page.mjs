// Compares the page with the output of this run: node page.mjs PAGE SIDE-BY-SIDE SAID
//
// The table under the script's own command must be equal line by line. In the other console blocks, each line that the suite or
// `check` could have printed must be in their output; "…" and places in a file are ignored.

import { readFileSync } from "node:fs";

const [page, table, said] = process.argv.slice(2).map((file) => readFileSync(file, "utf8"));
const blocks = [...page.matchAll(/^```console\n(.*?)^```$/gms)].map(([, block]) => block);
const own = "$ scripts/official-suite.sh\n";
const wrong = [];

const quoted = blocks.find((block) => block.startsWith(own))?.slice(own.length);
if (quoted?.trim() !== table.trim()) wrong.push("the table under scripts/official-suite.sh is another one; it should be the one above");

const heard = new Set(said.split("\n").map((line) => line.trim()));
const sentence = /^(failed |http\.[a-z0-9.-]+: |SUCCESS|FAILURE|WARNING|error|warning|note|=|\S+: har,|(client|server|recorder) +\d|rules: |[a-z0-9.-]+ +the recording )/;
const lines = blocks.filter((block) => !block.startsWith(own)).flatMap((block) => block.split("\n")).map((line) => line.trim());
const checked = lines.filter((line) => sentence.test(line));
for (const line of checked) if (!heard.has(line)) wrong.push(`nobody said: ${line}`);
if (checked.length === 0) wrong.push("no line of the page was found that could be checked");

for (const line of wrong) console.error(line);
process.exit(wrong.length === 0 ? 0 : 1);
