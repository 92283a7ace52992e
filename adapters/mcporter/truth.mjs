// What really passed, from the journal of `mcp-concord play`: node truth.mjs JOURNAL
// It knows the journal. A line counts from the moment at which its last byte passed; its text is not parsed. Noise is none.

import { readFileSync } from "node:fs";

const rest = { sent: "", received: "" };
for (const line of readFileSync(process.argv[2], "utf8").split("\n").filter(Boolean)) {
  const { kind, way, bytes } = JSON.parse(line);
  if (kind !== "bytes") continue;
  const lines = (rest[way] + bytes).split("\n");
  rest[way] = lines.pop();
  for (const each of lines) if (each.startsWith("{")) console.log(each);
}
