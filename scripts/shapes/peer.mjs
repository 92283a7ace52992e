// Asks the schemas of the TypeScript SDK about messages, one per line: whether they accept it, or null if they have no such message.
import * as types from "@modelcontextprotocol/sdk/types.js";
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  const params = asked.missing ? {} : { params: asked.value };
  const value = asked.part === "params" ? { method: asked.method, ...params } : asked.value;
  const names = [`${asked.definition}Schema`, `${asked.definition}WithToolsSchema`];
  const found = names.map((name) => types[name]).filter(Boolean);
  console.log(found.length ? found.some((schema) => schema.safeParse(value).success) : null);
}
