// Connects the two generations of the TypeScript client to a recorded server, and says the things that sessions share.
// It knows the SDKs' surfaces. What a session is for stands in sessions.mjs.

import { Client as ClientOne } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as SseOne } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport as StdioOne } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpOne } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as ClientTwo, StreamableHTTPClientTransport as HttpTwo } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioTwo } from "@modelcontextprotocol/client/stdio";
import * as schemas from "@modelcontextprotocol/sdk/types.js";

// The 2.x client probes a stdio server in a second process, unless the transport is a subclass: so one session is one trace.
class StdioTwoInPlace extends StdioTwo {}

const transports = {
  sdk1: { stdio: StdioOne, "streamable-http": HttpOne, "http-sse": SseOne },
  client2: { stdio: StdioTwoInPlace, "streamable-http": HttpTwo },
};

export async function connect({ client: generation, transport, capabilities = {}, handlers = {}, headers = {}, reconnectAfter = 200 }, address) {
  const info = { name: "recording-client", version: "1.0.0" };
  const client = generation === "sdk1"
    ? new ClientOne(info, { capabilities })
    : new ClientTwo(info, { capabilities, versionNegotiation: { mode: "auto" } });
  client.onerror = () => {};
  const seen = [];
  for (const [method, answer] of Object.entries(handlers)) {
    const handle = (request) => { seen.push(method); return answer(request); };
    client.setRequestHandler(generation === "sdk1" ? requestSchema(method) : method, handle);
  }
  const Transport = transports[generation][transport];
  const link = transport === "stdio" ? new Transport(address) : new Transport(new URL(address), { requestInit: { headers }, reconnectionOptions: {
    initialReconnectionDelay: reconnectAfter, maxReconnectionDelay: 5000, reconnectionDelayGrowFactor: 1.5, maxRetries: 3 } });
  const tokens = [];
  await client.connect(link, { onresumptiontoken: (id) => tokens.push(id) });
  return {
    client, link, tokens,
    call: (name, args, options) => generation === "sdk1"
      ? client.callTool({ name, arguments: args }, undefined, options)
      : client.callTool({ name, arguments: args }, options),
    // A request of the server that a session waits for before it goes on.
    asked: async (method) => { while (!seen.includes(method)) await pause(10); await pause(50); },
  };
}

function requestSchema(method) {
  return { "roots/list": schemas.ListRootsRequestSchema, "sampling/createMessage": schemas.CreateMessageRequestSchema,
    "elicitation/create": schemas.ElicitRequestSchema }[method];
}

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// An error answer is what some sessions are about: it is recorded, and no reason to stop.
export const whatever = (promise) => promise.catch((error) => error);
