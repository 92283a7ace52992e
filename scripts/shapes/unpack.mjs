// Extracts the schemas of MCP from the program of the conformance suite, which has them as object literals beside a table of
// their revisions: node unpack.mjs INDEX.js FOLDER
import { readFileSync, writeFileSync } from "node:fs";

const [file, folder] = process.argv.slice(2);
const text = readFileSync(file, "utf8");

// The end of the literal that begins at `start`: strings hold no braces that count.
function end(start) {
  let depth = 0;
  let quote = null;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (quote) {
      if (char === "\\") at++;
      else if (char === quote) quote = null;
    } else if ("`\"'".includes(char)) quote = char;
    else if ("{[".includes(char)) depth++;
    else if ("}]".includes(char) && --depth === 0) return at + 1;
  }
  throw new Error("a schema does not end");
}

const schemas = new Map();
for (const found of text.matchAll(/([\w$]+)=\{\$schema:[`"']http/g)) {
  const start = found.index + found[1].length + 1;
  const schema = new Function(`return (${text.slice(start, end(start))})`)();
  if (schema.definitions || schema.$defs) schemas.set(found[1], schema);
}
// The newest is named by a constant.
const table = /\{"2025-03-26":([\w$]+),"2025-06-18":([\w$]+),"2025-11-25":([\w$]+),\[[\w$]+\]:([\w$]+)\}/.exec(text);
if (!table) throw new Error("there is no table of schemas by revision");
["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"].forEach((revision, index) => {
  const schema = schemas.get(table[index + 1]);
  if (!schema) throw new Error(`there is no schema of ${revision}`);
  writeFileSync(`${folder}/${revision}.json`, JSON.stringify(schema));
});
