require("@mcp-concord/core/jest");
const { expect, test } = require("@jest/globals");
const { played, recorded } = require("./session.cjs");

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

test("a server is recorded once, and played from then on", async () => {
  const kept = await played();
  expect(await kept.sum(1, 2)).toBe(3);
  expect(kept.path).toCallTool("add", { a: 1, b: 2 });
  expect(await kept.sum(1, 2, { without: true })).toBe(3);
  expect(await kept.sum(1, 2, { mode: "none", without: true })).toBe(3);
  expect(await kept.sum(2, 2, { mode: "new", secrets: true })).toBe(4);
  expect(kept.path).toCallTool("add", { a: 2, b: 2 });
  expect(await kept.sum(2, 3, { mode: "all" })).toBe(5);
  expect(kept.path).not.toCallTool("add", { a: 1, b: 2 });
});
