require("@mcp-concord/core/jest");
const { expect, test } = require("@jest/globals");
const { recorded } = require("./session.cjs");

test("the calculator adds", async () => {
  const recording = await recorded([1, 2], [3, 4]);
  expect(recording).toConform();
  expect(recording).toConform({ require: "2025-11-25" });
  expect(recording).toCallTool("add", { a: 1, b: 2 });
  expect(recording).toCallTool("add", expect.objectContaining({ b: 4 }));
  expect(recording).not.toCallTool("subtract");
  expect(recording).toBeSameSession(await recorded([1, 2], [3, 4]));
  expect(recording).not.toBeSameSession(await recorded([1, 2], [3, 5]));
});
