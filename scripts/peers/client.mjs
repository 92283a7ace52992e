// A script of calls for a client of the official TypeScript SDK, 1.x (`sdk`) or 2.x (`client`). client.py runs the same
// script.
//
//   node client.mjs sdk|client stdio COMMAND [ARGUMENT…]
//   node client.mjs sdk|client streamable-http|http-sse URL
//
// peers.py starts the server and judges the outcome.
// Exit code 0: every call was answered, with a result or with the expected error.

const [line, transport, address, ...rest] = process.argv.slice(2);
const { Client, Stdio, StreamableHttp, Sse, listChanged } = line === "sdk" ? await one() : await two();
const client = new Client({ name: "peer", version: "1.0.0" }, { capabilities: {} });
const call = (name, args, options) =>
  line === "sdk" ? client.callTool({ name, arguments: args }, undefined, options) : client.callTool({ name, arguments: args }, options);

// The server tells of its new tools once, unasked: the script goes on when the client has heard of them.
const told = new Promise((done) => client.setNotificationHandler(listChanged, done));
const events = [];
const link = {
  stdio: () => new Stdio({ command: address, args: rest, stderr: "inherit" }),
  "streamable-http": () => new StreamableHttp(new URL(address)),
  "http-sse": () => new Sse(new URL(address)),
}[transport]();

await client.connect(link, { onresumptiontoken: (id) => events.push(id) });
// Over Streamable HTTP it tells before a client of this SDK listens. Resuming from the answer to `initialize` brings it.
if (transport === "streamable-http") await link.resumeStream(events.at(-1));
await told;
await script();
await client.close();

async function script() {
  await client.setLoggingLevel("warning");
  await client.listTools();
  await call("echo", { message: "Grüße, 世界 \u2028 \ud83d\ude80" });
  await call("get-sum", { a: 0.1, b: 9007199254740991 });
  await call("get-structured-content", { location: "Chicago" });
  await fails(call("get-sum", { a: "one", b: 2 }));
  await call("trigger-long-running-operation", { duration: 0.6, steps: 3 }, { onprogress: () => {} });
  await client.listResources();
  await client.listResourceTemplates();
  await client.readResource({ uri: "demo://resource/dynamic/text/7" });
  await fails(client.readResource({ uri: "demo://resource/none" }));
  await client.listPrompts();
  await client.getPrompt({ name: "args-prompt", arguments: { city: "Utrecht" } });
  await client.complete({ ref: { type: "ref/prompt", name: "completable-prompt" }, argument: { name: "department", value: "S" } });
  await client.ping();
}

// What is meant to fail: with an error, or with a result that says so.
async function fails(promise) {
  const came = await promise.catch((error) => error);
  if (!(came instanceof Error) && !came.isError) throw new Error(`this was to fail: ${JSON.stringify(came)}`);
}

async function one() {
  const from = (path) => import(`@modelcontextprotocol/sdk/${path}.js`);
  return {
    Client: (await from("client/index")).Client,
    Stdio: (await from("client/stdio")).StdioClientTransport,
    StreamableHttp: (await from("client/streamableHttp")).StreamableHTTPClientTransport,
    Sse: (await from("client/sse")).SSEClientTransport,
    listChanged: (await from("types")).ToolListChangedNotificationSchema,
  };
}

async function two() {
  const whole = await import("@modelcontextprotocol/client");
  const { StdioClientTransport: Stdio } = await import("@modelcontextprotocol/client/stdio");
  const { Client, StreamableHTTPClientTransport: StreamableHttp, SSEClientTransport: Sse } = whole;
  return { Client, Stdio, StreamableHttp, Sse, listChanged: "notifications/tools/list_changed" };
}
