// Records the sessions of sessions.mjs again, or those that are named.
// It knows how to start and stop the programs and where files go. It writes no expectation: meaning.py does.
//
//   node record.mjs OUT [NAME…]        OUT/NAME/<transcripts>, and OUT/NAME-har/ where the HAR file tells another order

import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect, pause, whatever } from "./clients.mjs";
import { fromHttp, fromStdio } from "./formats.mjs";
import { har, startProxy } from "./proxy.mjs";
import { sessions } from "./sessions.mjs";

const [out, ...names] = process.argv.slice(2);
const PROXY = 3901, SERVER = 3902;

for (const session of sessions.filter((s) => names.length === 0 || names.includes(s.name))) {
  session.before?.();
  const { files, left, messages, exchanges } = session.transport === "stdio" ? await overStdio(session) : await overHttp(session);
  keep(session.name, files);
  if (left.har && exchanges) keep(`${session.name}-har`, { "har.har": har(exchanges) });
  console.log(`${session.name}: ${messages.length} messages; ${Object.entries(left).map(([f, why]) => `no ${f} (${why})`).join("; ") || "all formats"}`);
}
process.exit(0);

async function overStdio(session) {
  const trace = `/tmp/concord-${session.name}.jsonl`;
  const connection = await connect(session, { command: "node", args: ["tee.mjs", trace, session.name, "--", ...session.command], stderr: "ignore" });
  await session.run(connection, session);
  await connection.client.close();
  for (let i = 0; i < 40 && !readFileSync(trace, "utf8").includes('"type":"end"'); i++) await pause(100);
  const text = readFileSync(trace, "utf8");
  rmSync(trace);
  return fromStdio(text);
}

async function overHttp(session) {
  if (await answers(SERVER, 1)) throw new Error(`something else answers on port ${SERVER}`);
  const startedAt = Date.now();
  const server = spawn(session.command[0], session.command.slice(1), { stdio: "ignore", env: { PATH: process.env.PATH, PORT: String(SERVER) } });
  const ended = new Promise((done) => server.on("exit", (code, signal) => done(code ?? 128 + (signal === "SIGTERM" ? 15 : 9))));
  const proxy = await startProxy(PROXY, SERVER, session.cut && once(session.cut));
  let endedAt;
  try {
    if (!(await answers(SERVER, 100))) throw new Error("the server does not start");
    const address = `http://127.0.0.1:${PROXY}${session.path}`;
    if (session.refusedFirst) await whatever(connect({ ...session, headers: {} }, address));
    const connection = await connect(session, address);
    await session.run(connection, session);
    await pause(200);
    await connection.client.close();
    await pause(200);
  } finally {
    endedAt = Date.now();
    await proxy.close();
    server.kill("SIGTERM");
  }
  const meta = { startedAt, endedAt, label: session.name, command: session.command, exitCode: await ended };
  return { ...fromHttp(session.transport, proxy.wire, proxy.exchanges, meta), exchanges: proxy.exchanges };
}

// Transcripts alone are written anew: what people wrote beside them stays.
function keep(name, files) {
  const folder = `${out}/${name}`;
  mkdirSync(folder, { recursive: true });
  for (const old of readdirSync(folder)) if (old !== "case.toml") rmSync(`${folder}/${old}`);
  for (const [file, text] of Object.entries(files)) writeFileSync(`${folder}/${file}`, text);
}

async function answers(port, tries) {
  for (let i = 0; i < tries; i++) {
    if (await fetch(`http://127.0.0.1:${port}/`).then(() => true, () => false)) return true;
    await pause(100);
  }
  return false;
}

function once(cut) {
  let done = false;
  return (event, exchange) => !done && (done = cut(event, exchange));
}

