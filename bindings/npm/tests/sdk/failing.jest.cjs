require("@mcp-concord/core/jest");
const { convert } = require("@mcp-concord/core");
const { beforeAll, expect, test } = require("@jest/globals");
const { played, recorded } = require("./session.cjs");

let recording;
beforeAll(async () => {
  recording = await recorded([1, 2]);
});

test("conforms", () => {
  const wrong = Buffer.concat([convert(recording, "jsonrpc", { onNote: () => {} }), Buffer.from('{"jsonrpc":"2.0","id":null,"method":"ping"}\n')]);
  expect(wrong).toConform();
});

test("is of the revision", () => {
  expect(recording).toConform({ require: "2024-11-05" });
});

test("is the same session", async () => {
  expect(recording).toBeSameSession(await recorded([1, 3]));
});

test("calls the tool", () => {
  expect(recording).toCallTool("subtract");
});

test("calls the tool with these", () => {
  expect(recording).toCallTool("add", { a: 2 });
});

test("does not call it", () => {
  expect(recording).not.toCallTool("add");
});

test("calls the tool with something like these", () => {
  expect(recording).toCallTool("add", expect.objectContaining({ a: 9 }));
});

test("calls it as it did", async () => {
  const kept = await played();
  await kept.sum(1, 2);
  await kept.sum(1, 5);
});
