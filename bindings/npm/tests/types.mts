// The types, as a compiler holds a program to them. It is never run.
import { check, convert, diff, ExactNumber, read, type Finding } from "@mcp-concord/core";
import "@mcp-concord/core/jest";
import "@mcp-concord/core/vitest";
import { expect as jest } from "@jest/globals";
import { expect as vitest } from "vitest";

export const findings: Finding[] = check("a.jsonl", { level: "must" }).findings;
export const bytes: Uint8Array = convert(new Uint8Array(), "har", { lossy: true });
export const line: number | undefined = diff("a", new ArrayBuffer(0)).differences[0]?.a?.line;
export const events = read("a")["events"];
export const exact: string = new ExactNumber("1e999").text;
jest("a").toConform({ require: "2025-11-25" });
vitest("a").not.toCallTool("add", { a: 1 });
vitest("a").toBeSameSession("b", { ids: "renumbered" });
// @ts-expect-error there is no such level
check("a.jsonl", { level: "may" });
// @ts-expect-error there is no such option
vitest("a").toConform({ requires: "2025-11-25" });
// @ts-expect-error a recording is a path or bytes
check(1);
