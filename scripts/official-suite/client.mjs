// The client that the suite tests: it uses the TypeScript SDK, and knows nothing about the scenario.
//
//   node client.mjs URL
//
// It connects, lists the tools, calls each with the arguments that its schema requires, and accepts elicitations.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const client = new Client(
  { name: "concord-suite-client", version: "1.0.0" },
  { capabilities: { elicitation: { form: { applyDefaults: true } } } },
);
client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: {} }));

const values = { number: 7, integer: 7, string: "seven", boolean: true, array: [], object: {} };
const made = ({ properties = {}, required = [] }) =>
  Object.fromEntries(required.map((name) => [name, values[properties[name].type]]));

await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
const { tools } = await client.listTools();
for (const { name, inputSchema } of tools) await client.callTool({ name, arguments: made(inputSchema) });
await client.close();
