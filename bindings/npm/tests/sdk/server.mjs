// A server with the official SDK, as its author would write it.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "calculator", version: "1.0.0" });
const sum = { content: [], structuredContent: { sum: 0 } };
server.registerTool(
  "add",
  { description: "Adds two numbers", inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
  ({ a, b }) => ({ ...sum, structuredContent: { sum: a + b } }),
);
await server.connect(new StdioServerTransport());
