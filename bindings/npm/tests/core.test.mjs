// The functions in Node, as they are installed: answers, errors, memory.
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import {
  check, ConcordError, convert, describe, diff, ExactNumber, identify, init, read, readText, show, summary,
} from "@mcp-concord/core";

const bytes = (text) => new TextEncoder().encode(text);
const lines = (...messages) => bytes(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
const CALL = bytes(
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1.50}}}\n' +
    '{"jsonrpc":"2.0","id":1,"result":{"content":[],"sum":12345678901234567890.10}}\n',
);
const NULL_ID = lines({ jsonrpc: "2.0", id: null, method: "ping" });
const session = (protocolVersion, ...more) =>
  lines(
    { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion, capabilities: {}, clientInfo: { name: "c", version: "1" } } },
    { jsonrpc: "2.0", id: 0, result: { protocolVersion, capabilities: {}, serverInfo: { name: "s", version: "1" } } },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    ...more,
  );
const refused = (code, also = {}) => (error) => {
  assert.ok(error instanceof ConcordError && error instanceof Error, `${error}`);
  assert.equal(error.code, code, error.message);
  for (const [member, value] of Object.entries(also)) assert.equal(error[member], value, member);
  return true;
};

test("a recording is a path, a URL or bytes of any kind", () => {
  const path = join(mkdtempSync(join(tmpdir(), "core-")), "a.jsonl");
  writeFileSync(path, CALL);
  const expected = readText(CALL);
  for (const recording of [path, pathToFileURL(path), Buffer.from(CALL), CALL.buffer, new DataView(CALL.buffer), Buffer.from([...CALL, 0]).subarray(0, -1)]) {
    assert.equal(readText(recording), expected);
  }
  assert.equal(check(path).json, check(CALL, { name: path }).json);
  assert.throws(() => read(`${path}.no`), { code: "ENOENT" });
  assert.throws(() => read(tmpdir()), { code: "EISDIR" });
  for (const wrong of [1, null, undefined, {}, [1]]) assert.throws(() => read(wrong), TypeError);
});

test("both kinds of modules have the same library", () => {
  const required = createRequire(import.meta.url)("@mcp-concord/core");
  assert.equal(required.check, check);
  assert.equal(required.ConcordError, ConcordError);
});

test("numbers are exact", () => {
  const [call, result] = read(CALL).events;
  assert.equal(call.arguments.a, 1.5);
  assert.ok(result.result.sum instanceof ExactNumber);
  assert.equal(`${result.result.sum}`, "12345678901234567890.10");
  assert.ok(readText(CALL).includes("1.50"));
  const held = ["0", "-0", "-1", "1e3", "0.1", "1.50", "9007199254740992", "123456789012345680000", "1e308", "5e-324"];
  const lost = ["9007199254740993", "0.1000000000000000000001", "1e400", "-1e400", "123456789012345678", "1e-400"];
  const numbers = [...held, ...lost].join(",");
  const text = `{"jsonrpc":"2.0","method":"m","params":{"list":[${numbers}],"a\\"1":"\\\\","exact":"2e999 \\" 1e999","é":1e999}}\n`;
  const [{ params }] = read(bytes(text)).events;
  params.list.forEach((number, at) => assert.equal(typeof number, at < held.length ? "number" : "object", numbers.split(",")[at]));
  assert.deepEqual(params.list.map(Number), JSON.parse(text).params.list);
  assert.deepEqual(params.list.slice(held.length).map(String), lost);
  assert.deepEqual([params['a"1'], params.exact, `${params["é"]}`], ["\\", '2e999 " 1e999', "1e999"]);
});

test("check gives findings as plain objects", () => {
  const report = check(NULL_ID, { name: "a.jsonl" });
  const finding = report.findings.find(({ rule }) => rule === "jsonrpc.id.null");
  assert.deepEqual([finding.verdict, finding.party, finding.line, finding.file], ["fail", "sender", 1, "a.jsonl"]);
  assert.deepEqual([report.ok, report.format, report.messages, report.stopped, report.required], [false, "jsonrpc", 1, null, null]);
  assert.match(describe(finding), /error\[jsonrpc\.id\.null\].*\n {2}--> a\.jsonl:1/);
  assert.deepEqual(JSON.parse(report.json), report.findings);
});

test("the options of check", () => {
  const rules = (options) => check(NULL_ID, options).findings.filter(({ verdict }) => verdict === "fail").map(({ rule }) => rule);
  assert.ok(rules().includes("jsonrpc.id.null"));
  assert.deepEqual(rules({ select: "jsonrpc.id" }), ["jsonrpc.id.null"]);
  assert.deepEqual(rules({ select: ["jsonrpc.id.null"] }), ["jsonrpc.id.null"]);
  assert.ok(!rules({ ignore: "jsonrpc.id.null" }).includes("jsonrpc.id.null"));
  assert.ok(!rules({ profile: "recorder" }).includes("jsonrpc.id.null"));
  const verdicts = new Set(check(NULL_ID, { every: true }).findings.map(({ verdict }) => verdict));
  assert.ok(verdicts.has("pass") && verdicts.has("not-applicable"));
  assert.equal(check(session("2025-11-25"), { spec: "2025-06-18" }).revision, "2025-06-18");
});

test("a frozen set is a revision or the text of one", () => {
  for (const require of ["2025-11-25", 'suite = "0.1.0"\nrevision = "2025-11-25"\nrules = ["jsonrpc.id.null"]\n']) {
    const report = check(session("2025-11-25"), { require });
    assert.ok(report.ok && report.required.broken === 0 && report.required.whole);
    assert.ok(!check(session("2025-11-25", { jsonrpc: "2.0", id: null, method: "ping" }), { require }).ok);
    assert.throws(() => check(session("2025-06-18"), { require }), refused("other-revision"));
  }
});

test("diff gives places and values", () => {
  const other = Buffer.from(Buffer.from(CALL).toString().replace("890.10", "890.11"));
  const found = diff(CALL, other, { names: ["a", "b"] });
  assert.deepEqual([found.same, found.equal, found.differ, found.recordings[1].name], [false, 1, 1, "b"]);
  const [{ pointer, a, b }] = found.differences;
  assert.deepEqual([pointer, a.line, `${a.value}`, `${b.value}`], ["/result/sum", 2, "12345678901234567890.10", "12345678901234567890.11"]);
  assert.match(describe(found), /event 1 differs at \/result\/sum[^]*different sessions/);
  const twice = Buffer.from(`${other}`.replace('"result":{', '"result":{"n":1,'));
  assert.match(describe(diff(CALL, twice)), /, and in 1 other place: \/result\//);
  assert.ok(diff(CALL, other, { ignore: "/result/sum" }).same);
  assert.ok(diff(CALL, Buffer.from(`${Buffer.from(CALL)}`.replaceAll('"id":1', '"id":7')), { ids: "renumbered" }).same);
});

test("convert says what is left out", () => {
  const notes = [];
  const har = convert(CALL, "har", { onNote: (note) => notes.push(note) });
  assert.ok("entries" in JSON.parse(Buffer.from(har).toString()).log);
  assert.ok(notes.length > 0);
  assert.ok("resourceSpans" in JSON.parse(Buffer.from(convert(CALL, "otlp-json", { onNote: () => {} })).toString()));
  const warned = [];
  const listen = (warning) => warned.push(warning);
  process.on("warning", listen);
  const back = convert(har, "jsonrpc");
  assert.ok(diff(back, CALL).same);
  return new Promise((resolve) => setImmediate(resolve)).then(() => {
    process.off("warning", listen);
    assert.ok(warned.some(({ name, message }) => name === "ConcordWarning" && message.includes("who sent each message")), `${warned}`);
  });
});

test("identify, summary and show", () => {
  assert.equal(identify(session("2025-11-25")).revision, "2025-11-25");
  assert.equal(summary(CALL).tools[0].name, "add");
  assert.match(show(CALL), /result of add/);
  assert.match(show(CALL, "svg"), /<svg /);
  assert.match(show(CALL, "html", { check: false }), /^<!doctype html>/);
});

test("what is wrong with a recording or an option is an error with a place", () => {
  assert.throws(
    () => read(bytes('{"jsonrpc":"2.0","id":[],"method":"a"}\n'), { name: "a.jsonl" }),
    refused("invalid-id", { clause: "ID-REJECT", line: 1, column: 23, pointer: "", recording: "a.jsonl" }),
  );
  const entries = { transport: "http-sse", entries: [{ timestamp_ms: 0, request: { jsonrpc: "2.0", id: {}, method: "a" } }] };
  assert.throws(() => read(bytes(JSON.stringify(entries))), refused("invalid-id", { line: 1, pointer: "/entries/0" }));
  const calls = { read, readText, identify, summary, check, show, convert: (it) => convert(it, "har"), diff: (it) => diff(CALL, it) };
  for (const call of Object.values(calls)) {
    assert.throws(() => call(new Uint8Array([0xff, 0x7b])), refused("invalid-utf8"));
    assert.throws(() => call(new Uint8Array([0xff, 0xfe, 0x7b])), refused("unreadable")); // UTF-16, cut off
    assert.throws(() => call(new Uint8Array()), refused("unknown-format"));
    assert.throws(() => call(bytes("not JSON")), refused("unknown-format"));
  }
  const options = [
    () => read(CALL, { format: "x" }), () => read(CALL, { dialect: "x" }), () => read(CALL, { formatt: "har" }), () => check(CALL, { strict: "yes" }),
    () => check(CALL, { spec: "2020" }), () => check(CALL, { select: "nothing" }), () => check(CALL, { level: "may" }), () => check(CALL, { require: "2020-01-01" }),
    () => convert(CALL, "x"), () => convert(CALL), () => diff(CALL, CALL, { ids: "any" }), () => diff(CALL, CALL, { show: -1 }), () => show(CALL, "png"), () => show(CALL, "text", { from: 2, to: 1 }),
  ];
  for (const call of options) assert.throws(call, refused("bad-option", { line: null }));
});

test("progress is told before each MiB, and can end a call", () => {
  const long = Buffer.from(`{"jsonrpc":"2.0","method":"${"a".repeat(1 << 20)}"}\n`.repeat(8));
  const read_ = [];
  check(long, { onProgress: (at) => void read_.push(at) });
  assert.ok(read_.length >= 8 && read_.every((at, index) => at === index * 1_048_576), `${read_}`);
  assert.throws(() => check(long, { onProgress: (at) => at < 3_000_000 }), refused("interrupted"));
  class Mine extends Error {}
  assert.throws(() => check(long, { onProgress: () => { throw new Mine(); } }), Mine);
  // Another call may be made in the midst of one.
  check(long, { onProgress: () => void assert.equal(check(CALL).messages, 2) });
  assert.equal(check(CALL).messages, 2);
});

test("a recording that needs more memory than a call may take is an error, and the next call works", async () => {
  await init({ memory: 24 });
  try {
    const large = Buffer.alloc(16 << 20, '{"jsonrpc":"2.0","method":"a","params":{"a":[1,2,3,4,5,6]}}\n');
    assert.throws(() => read(large), refused("out-of-memory"));
    assert.throws(() => read(Buffer.alloc(64 << 20)), refused("out-of-memory"));
    assert.equal(check(CALL).messages, 2);
  } finally {
    await init({ memory: 2048 });
  }
  await assert.rejects(async () => { await init({ memory: 1 }); check(CALL); }, RangeError);
  await init({ memory: 2048 });
});

test("a fault in the library is an error, and the next call works", () => {
  const { Engine } = createRequire(import.meta.url)("../node_modules/@mcp-concord/core/dist/node/engine.js");
  const { readFileSync } = createRequire(import.meta.url)("node:fs");
  const engine = new Engine(new WebAssembly.Module(readFileSync(createRequire(import.meta.url).resolve("@mcp-concord/core/concord.wasm"))), 64);
  const call = (request) => engine.call({ names: ["a", "b"], options: {}, ...request }, [CALL]);
  assert.throws(() => call({ function: "panic", options: undefined }), refused("panic"));
  assert.throws(() => call({ function: "nothing" }), refused("bad-option"));
  assert.equal(call({ function: "check" }).also.messages, 2);
});

test("threads work side by side", async () => {
  const source = `const { check } = require("@mcp-concord/core"); const { parentPort, workerData } = require("node:worker_threads");
    for (let at = 0; at < 200; at++) check(workerData); parentPort.postMessage(check(workerData).json);`;
  const answers = await Promise.all([1, 2, 3, 4].map(() => new Promise((resolve, reject) => {
    const worker = new Worker(source, { eval: true, workerData: NULL_ID });
    worker.once("message", resolve).once("error", reject);
  })));
  for (const answer of answers) assert.equal(answer, check(NULL_ID).json);
});
