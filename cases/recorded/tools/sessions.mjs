// What is recorded: for each case its server, its client, and what the client says.
// It knows programs and calls. How bytes are caught stands in tee.mjs and proxy.mjs, how they are kept in formats.mjs.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { pause, whatever } from "./clients.mjs";

const EVERYTHING = ["node", "node_modules/@modelcontextprotocol/server-everything/dist/index.js"];
const FILES = "/tmp/concord-files";
const FILESYSTEM = ["node", "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", FILES];

const everything = (transport) => ({
  transport,
  command: [...(transport === "stdio" ? EVERYTHING : ["node", "--import", "./loopback.mjs", ...EVERYTHING.slice(1)]),
    { stdio: "stdio", "streamable-http": "streamableHttp", "http-sse": "sse" }[transport]],
  path: transport === "http-sse" ? "/sse" : "/mcp",
});
const filesystem = { transport: "stdio", command: FILESYSTEM };
const python = (major, ...how) => ({
  transport: "streamable-http", command: [`.venv/mcp${major}/bin/python`, "server_python.py", ...how], path: "/mcp",
});
const rmcp = { transport: "stdio", command: ["rmcp-server/target/debug/recorded-rmcp-server"] };

const roots = { "roots/list": () => ({ roots: [{ uri: `file://${FILES}`, name: "files" }] }) };
const sampling = { "sampling/createMessage": () => ({ model: "a-recorded-model", role: "assistant", stopReason: "endTurn", content: { type: "text", text: "Four." } }) };
const elicitation = { "elicitation/create": () => ({ action: "accept", content: { name: "Ada", check: true } }) };

// One script for several servers' transports: recordings of it differ only in what a server says differently.
async function tour({ client, call, link, tokens }, recording) {
  await pause(300);
  // Over HTTP the server tells of its new tools before anybody listens. A client that resumes gets to hear of it after all.
  if (recording.transport === "streamable-http" && recording.client === "sdk1") await link.resumeStream(tokens.at(-1));
  await pause(200);
  await client.listTools();
  await call("echo", { message: "Grüße, 世界 \u2028 \ud83d\ude80" });
  await call("get-sum", { a: 0.1, b: 0.2 });
  await call("get-structured-content", { location: "Chicago" });
  await call("get-annotated-message", { messageType: "error", includeImage: false });
  await whatever(call("get-sum", { a: "one", b: 2 }));
  await client.readResource({ uri: "demo://resource/dynamic/text/7" });
  await client.getPrompt({ name: "args-prompt", arguments: { city: "Utrecht" } });
  await client.complete({ ref: { type: "ref/prompt", name: "completable-prompt" }, argument: { name: "department", value: "S" } });
  await client.ping();
}

async function slowAndCancelled({ call }) {
  await pause(100);
  await call("trigger-long-running-operation", { duration: 0.6, steps: 3 }, { onprogress: () => {} });
  const stop = new AbortController();
  const cancelled = whatever(call("trigger-long-running-operation", { duration: 1.2, steps: 4 }, {
    signal: stop.signal, onprogress: ({ progress }) => progress === 2 && stop.abort("the user pressed stop"),
  }));
  await cancelled;
  await call("echo", { message: "after the cancelled call" });
  await pause(900);
}

// The server asks for the roots first: its next requests then have the ids of the calls that cause them.
async function sameIds({ client, call, asked }) {
  await asked("roots/list");
  await call("trigger-sampling-request", { prompt: "How much is two and two?", maxTokens: 20 });
  await call("trigger-elicitation-request", {});
  await client.listPrompts();
}

function freshFiles() {
  rmSync(FILES, { recursive: true, force: true });
  mkdirSync(`${FILES}/notes`, { recursive: true });
  writeFileSync(`${FILES}/notes/zahlen.txt`, "9007199254740993\n1e400\n-0.0\n");
  writeFileSync(`${FILES}/empty.json`, "{}\n");
}

async function filesTour({ call, asked }, { client }) {
  if (client === "sdk1") await asked("roots/list");
  await call("list_allowed_directories", {});
  await call("write_file", { path: `${FILES}/notes/größe.md`, content: "line one\r\nline \"two\"\t\\ \u0007 \ud83d\ude80\n" });
  await call("read_text_file", { path: `${FILES}/notes/größe.md` });
  await call("read_text_file", { path: `${FILES}/notes/zahlen.txt`, head: 2 });
  await call("directory_tree", { path: FILES });
  await whatever(call("read_text_file", { path: "/tmp/elsewhere/secret.txt" }));
  await whatever(call("edit_file", { path: `${FILES}/empty.json`, edits: [{ oldText: "missing", newText: "found" }] }));
}

async function redelivered({ client, call, link }) {
  const ids = [];
  await call("echo", { message: "first" }, { onresumptiontoken: (id) => ids.push(id) });
  await call("trigger-long-running-operation", { duration: 0.6, steps: 3 }, { onprogress: () => {}, onresumptiontoken: (id) => ids.push(id) });
  await whatever(client.readResource({ uri: "demo://resource/none" }));
  await link.resumeStream(ids[0]); // From the first call's first event: what came since is delivered again.
  await pause(600);
}

async function interrupted({ call }) {
  await call("trigger-long-running-operation", { duration: 1.5, steps: 5 }, { onprogress: () => {} });
  await call("echo", { message: "after the broken stream" });
}

async function pythonTour({ client, call }) {
  await client.listTools();
  await call("add", { a: 9007199254740991, b: 0.5 });
  await call("measure", { text: "Grüße, 世界" });
  await call("big", {});
  await call("fail", { reason: "as asked" });
  await whatever(call("no-such-tool", {}));
  await whatever(client.readResource({ uri: "notes://none" }));
  await client.readResource({ uri: "notes://today" });
}

async function pythonStreams({ client, call }) {
  await client.listTools();
  await call("count", { steps: 3 }, { onprogress: () => {} });
  await whatever(call("ask", { question: "Shall we go on?" })); // A server of 2026-07-28 may not ask: it answers with an error.
  await call("fail", { reason: "as asked" });
  const stop = new AbortController();
  const cancelled = whatever(call("count", { steps: 40 }, { signal: stop.signal, onprogress: ({ progress }) => progress >= 2 && stop.abort("enough") }));
  await cancelled;
  await client.listTools();
}

async function afterARefusal({ call }) {
  await call("measure", { text: "now I may" });
}

async function rmcpTour({ client, call }) {
  await client.listTools();
  await call("add", { a: 40, b: 2 });
  await call("big", {});
  await call("count", { steps: 3 }, { onprogress: () => {} });
  await whatever(call("sample", { prompt: "Say four." }));
  await whatever(call("fail", { reason: "as asked" }));
  await whatever(call("add", { a: "forty" }));
  await whatever(call("no_such_tool", {}));
  const stop = new AbortController();
  await whatever(call("count", { steps: 40 }, { signal: stop.signal, onprogress: ({ progress }) => progress >= 2 && stop.abort("enough") }));
  await call("add", { a: -2, b: 1 });
}

export const sessions = [
  { name: "everything-stdio", ...everything("stdio"), client: "sdk1", run: tour },
  { name: "everything-http", ...everything("streamable-http"), client: "sdk1", run: tour },
  { name: "everything-sse", ...everything("http-sse"), client: "sdk1", run: tour },
  { name: "everything-stdio-discover", ...everything("stdio"), client: "client2", run: tour },
  { name: "everything-http-discover", ...everything("streamable-http"), client: "client2", run: tour },
  { name: "everything-stdio-cancelled", ...everything("stdio"), client: "sdk1", run: slowAndCancelled },
  { name: "everything-http-cancelled", ...everything("streamable-http"), client: "sdk1", run: slowAndCancelled },
  { name: "everything-stdio-same-id", ...everything("stdio"), client: "sdk1", run: sameIds,
    capabilities: { roots: {}, sampling: {}, elicitation: {} }, handlers: { ...roots, ...sampling, ...elicitation } },
  { name: "everything-http-same-id", ...everything("streamable-http"), client: "sdk1", run: sameIds,
    capabilities: { roots: {}, sampling: {}, elicitation: {} }, handlers: { ...roots, ...sampling, ...elicitation } },
  { name: "everything-http-redelivered", ...everything("streamable-http"), client: "sdk1", run: redelivered },
  { name: "everything-http-interrupted", ...everything("streamable-http"), client: "sdk1", run: interrupted,
    cut: (event) => /"progress":2,/.test(event.data), reconnectAfter: 1500 },
  { name: "filesystem-stdio", ...filesystem, client: "sdk1", before: freshFiles, run: filesTour, capabilities: { roots: { listChanged: true } }, handlers: roots },
  { name: "filesystem-stdio-discover", ...filesystem, client: "client2", before: freshFiles, run: filesTour },
  { name: "python1-http-json", ...python(1, "json"), client: "sdk1", run: pythonTour },
  { name: "python1-http-sse", ...python(1, "sse"), client: "sdk1", run: pythonStreams, capabilities: { elicitation: {} }, handlers: elicitation },
  { name: "python2-http-json", ...python(2, "json"), client: "client2", run: pythonTour },
  { name: "python1-http-refused", ...python(1, "json", "guarded"), client: "sdk1", run: afterARefusal, refusedFirst: true,
    headers: { authorization: "Bearer a-token-made-up-for-this-recording" } },
  { name: "python2-http-sse", ...python(2, "sse"), client: "sdk1", run: pythonStreams, capabilities: { elicitation: {} }, handlers: elicitation },
  { name: "python2-http-sse-discover", ...python(2, "sse"), client: "client2", run: pythonStreams, capabilities: { elicitation: {} }, handlers: elicitation },
  { name: "rmcp-stdio", ...rmcp, client: "sdk1", run: rmcpTour, capabilities: { sampling: {} }, handlers: sampling },
  { name: "rmcp-stdio-discover", ...rmcp, client: "client2", run: rmcpTour, capabilities: { sampling: {} }, handlers: sampling },
];
