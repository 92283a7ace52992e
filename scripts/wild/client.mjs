// A client that uses what a server offers, with @ai-sdk/mcp: node client.mjs {server}|{url}
//
// It lists and calls tools, reads a resource and gets a prompt. Failures are printed, and the rest goes on.

import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as Stdio } from "@ai-sdk/mcp/mcp-stdio";

const target = process.argv[2];
const transport = target.startsWith("http://") ? { type: "http", url: target } : new Stdio({ command: target, args: [] });
const tried = (what, doing) => doing.catch((error) => console.error(`${what}: ${error}`));
const values = { string: "text", number: 1, integer: 1, boolean: true, array: [], object: {} };
const made = ({ properties = {}, required = [] }) =>
  Object.fromEntries(required.map((name) => [name, values[properties[name].type]]));

const client = await createMCPClient({ transport });
const { tools = [] } = (await tried("tools", client.listTools())) ?? {};
for (const { name, inputSchema } of [...tools, ...tools.slice(0, 1)]) {
  await tried(name, client.callTool({ name, arguments: made(inputSchema) }));
}
const { resources = [] } = (await tried("resources", client.listResources())) ?? {};
for (const { uri } of resources.slice(0, 2)) await tried(uri, client.readResource({ uri }));
const { prompts = [] } = (await tried("prompts", client.listPrompts())) ?? {};
for (const { name } of prompts.slice(0, 2)) await tried(name, client.getPrompt({ name }));
await client.close();
