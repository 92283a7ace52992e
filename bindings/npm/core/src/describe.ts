import type { Comparison, Difference, Finding, Json } from "./types.js";

const KINDS: Partial<Record<Finding["verdict"], string>> = { fail: "error", warn: "warning", info: "note" };

/** A finding in its place, or a comparison with its differences, for a person. */
export function describe(found: Finding | Comparison): string {
  return "rule" in found ? finding(found) : comparison(found);
}

function finding({ rule, verdict, level, party, file, line, pointer, within, message, snippet, other, more }: Finding): string {
  const lines = [`${KINDS[verdict] ?? verdict}[${rule}]: ${message}`];
  if (line !== null) lines.push(`  --> ${[`${file}:${line}`, pointer, within].filter(Boolean).join(" ")}`);
  if (snippet) lines.push(`    | ${snippet}`);
  if (other) lines.push(`  ${other.what}: line ${other.line} ${other.pointer}`.trimEnd(), `    | ${other.snippet}`);
  if (more) lines.push(`  and ${more} more like this`);
  lines.push(`  = ${level}, at fault: ${party}; mcp-concord explain ${rule}`);
  return lines.join("\n");
}

function comparison({ same, equal, differ, only_a, only_b, differences, hidden }: Comparison): string {
  const parts = differences.map(difference);
  if (hidden > 0) parts.push(`${hidden} more differ but are not shown`);
  parts.push(`${same ? "the same session" : "different sessions"}: ${equal} equal, ${differ} differ, ${only_a} only in A, ${only_b} only in B`);
  return parts.join("\n\n");
}

function difference({ pointer, also = [], a, b }: Difference): string {
  const sides = [["-", a] as const, ["+", b] as const];
  const only = a ?? b;
  const lines = [a && b ? `event ${a.index} differs at ${pointer || "/"}${others(also)}` : `event ${only?.index} is only in ${a ? "A" : "B"}`];
  for (const [sign, side] of sides) {
    if (side && pointer !== null) lines.push(`  ${sign} ${"value" in side ? short(side.value as Json) : "(nothing there)"}`);
  }
  for (const [sign, side] of sides) {
    if (side) lines.push(`  ${sign} line ${side.line} ${side.pointer}`.trimEnd() + `  ${short(side.event)}`);
  }
  return lines.join("\n");
}

function others(also: string[]): string {
  if (also.length === 0) return "";
  const places = `${also.length} other place${also.length > 1 ? "s" : ""}${also.length === 100 ? " or more" : ""}`;
  return `, and in ${places}: ${also.slice(0, 3).join(", ")}${also.length > 3 ? ", …" : ""}`;
}

/** A value as JSON, cut to a length that can be shown. */
export function short(value: unknown): string {
  const text = JSON.stringify(value, (_, it) => (isMatcher(it) ? MARK + written(it) + MARK : it));
  const plain = text.replace(new RegExp(`"${MARK}(.*?)${MARK}"`, "g"), (_, quoted: string) => JSON.parse(`"${quoted}"`) as string);
  return cut(plain);
}

/** What a framework has in place of a value, such as `expect.objectContaining`: as it is written, and not what it is made of. */
interface Matcher {
  asymmetricMatch: unknown;
  sample?: unknown;
  inverse?: boolean;
}

// No JSON has it as it is.
const MARK = "\ue000";
const isMatcher = (value: unknown): value is Matcher => typeof (value as Matcher | null)?.asymmetricMatch === "function";
const written = ({ sample, inverse, ...rest }: Matcher & object): string => {
  const name = String(rest.constructor?.name ?? "");
  return `${inverse ? "not " : ""}${name}${sample === undefined ? "" : ` ${short(sample)}`}`;
};

function cut(text: string): string {
  return text.length <= 160 ? text : `${text.slice(0, 159)}…`;
}
