/** Matchers for `expect.extend`, of vitest, jest, and what takes the same. */
import { check, ConcordError, describe, diff, read } from "./node.js";
import { short } from "./describe.js";
import type { CheckOptions, DiffOptions, Finding, Json, Recording, Report } from "./types.js";

/** What a matcher gives back. */
interface Matched {
  pass: boolean;
  message: () => string;
}

/** What a framework provides to a matcher. */
interface Context {
  equals(a: unknown, b: unknown): boolean;
}

/** The matchers, as they are called on `expect(recording)`. */
export interface ConcordMatchers<R = unknown> {
  /** The recording keeps to the specification: `check` finds no fault. With `require` it is held to the rules of that revision. */
  toConform(options?: CheckOptions): R;
  /** Both recordings, in any formats, are the same session. */
  toBeSameSession(expected: Recording, options?: DiffOptions): R;
  /** The session calls this tool, and if arguments are given, with these. They may have `expect.objectContaining` and the like. */
  toCallTool(tool: string, toolArguments?: unknown): R;
}

/** How many findings are shown in full; the rest is counted. */
const SHOWN = 10;

export function toConform(recording: Recording, options: CheckOptions = {}): Matched {
  try {
    const report = check(recording, options);
    const named = nameOf(recording);
    return { pass: report.ok, message: () => (report.ok ? `${named} conforms to ${revision(report)}` : failure(named, report, options)) };
  } catch (error) {
    // The session is of another revision than it should be, or does not show any.
    if (!(error instanceof ConcordError) || error.code !== "other-revision") throw error;
    return { pass: false, message: () => error.message };
  }
}

export function toBeSameSession(recording: Recording, expected: Recording, options: DiffOptions = {}): Matched {
  const found = diff(recording, expected, { show: SHOWN, ...options });
  return { pass: found.same, message: () => `A is ${nameOf(recording)}, B is ${nameOf(expected)}\n\n${describe(found)}` };
}

export function toCallTool(this: Context, recording: Recording, tool: string, toolArguments?: unknown): Matched {
  const calls = read(recording, { calls: true })["calls"] as { tool: string; arguments: Json }[];
  const pass = calls.some((call) => call.tool === tool && (toolArguments === undefined || this.equals(call.arguments, toolArguments)));
  const wanted = toolArguments === undefined ? tool : `${tool} with ${short(toolArguments)}`;
  const made = calls.map((call) => `  ${call.tool} ${short(call.arguments)}`);
  const listed = [...made.slice(0, SHOWN), ...(made.length > SHOWN ? [`  and ${made.length - SHOWN} more`] : [])];
  const among = made.length === 0 ? "It calls no tool." : `It calls:\n${listed.join("\n")}`;
  return { pass, message: () => `${nameOf(recording)} ${pass ? "calls" : "does not call"} ${wanted}\n\n${among}` };
}

function failure(named: string, report: Report, { require, strict }: CheckOptions): string {
  // Of a frozen set every rule counts, and else what `check` fails for.
  const verdicts: Finding["verdict"][] = require !== undefined || strict ? ["fail", "warn"] : ["fail"];
  const guilty = report.findings.filter((finding) => verdicts.includes(finding.verdict));
  const parts = [`${named} does not conform to ${revision(report)}`, ...guilty.slice(0, SHOWN).map(describe)];
  if (guilty.length > SHOWN) parts.push(`and ${guilty.length - SHOWN} more findings`);
  if (report.stopped !== null) {
    const { line, pointer, message, clause } = report.stopped;
    parts.push(`reading stopped at line ${line} ${pointer}: ${message} [${clause}]; the rest is not judged`);
  }
  return parts.join("\n\n");
}

function revision(report: Report): string {
  return report.revision ?? "the specification";
}

function nameOf(recording: Recording): string {
  return typeof recording === "string" || recording instanceof URL ? `${recording}` : `a recording of ${recording.byteLength} bytes`;
}
