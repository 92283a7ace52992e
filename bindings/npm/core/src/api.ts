import { text, type Engine, type Reply } from "./engine.js";
import { parse } from "./exact.js";
import type {
  CheckOptions, Common, Comparison, ConvertOptions, DiffOptions, Finding, Json, One, ReadOptions, Recording, Report, ShowOptions,
} from "./types.js";

export { ConcordError } from "./errors.js";
export { ExactNumber } from "./exact.js";
export { describe } from "./describe.js";
export type { Progress } from "./engine.js";
export type * from "./types.js";

/** Where the functions run. */
export interface Host {
  engine(): Engine;
  /** What to call a recording, and its bytes. */
  bytes(recording: Recording): [string, Uint8Array];
  note(note: string): void;
}

let host: Host;

/** Runs the functions there. */
export function use(where: Host): void {
  host = where;
}

type Members = { [member: string]: Json };

/** The meaning of a recording as JSON text: what `mcp-concord read` prints. */
export function readText(recording: Recording, options: ReadOptions = {}): string {
  return text(one("read", recording, options).body);
}

/** The meaning of a recording: its `events` or, with `calls`, its `calls`. */
export function read(recording: Recording, options: ReadOptions = {}): Members {
  return parse(readText(recording, options)) as Members;
}

/** Which transport and revision a recording shows, with the evidence. Null stands for unknown. */
export function identify(recording: Recording, options: One = {}): Members {
  return parse(text(one("identify", recording, options).body)) as Members;
}

/** What is in a recording at a glance: who talked to whom, what was called, what failed, what `check` finds. */
export function summary(recording: Recording, options: One = {}): Members {
  return (parse(text(one("summary", recording, options).body)) as Members[])[0] as Members;
}

/** Is this recording right, and did both sides keep to the specification? */
export function check(recording: Recording, options: CheckOptions = {}): Report {
  const { body, also } = one("check", recording, options);
  const json = text(body);
  return { findings: JSON.parse(json) as Finding[], ...(also as Omit<Report, "findings" | "json">), json };
}

/** Are these two recordings, in any formats, the same session? Times, headers and event ids are never compared. */
export function diff(a: Recording, b: Recording, options: DiffOptions = {}): Comparison {
  const { names, ...rest } = options;
  const [nameA, bytesA] = host.bytes(a);
  const [nameB, bytesB] = host.bytes(b);
  const { body } = call("diff", [names?.[0] ?? nameA, names?.[1] ?? nameB], [bytesA, bytesB], rest);
  const json = text(body);
  return { ...(parse(json) as Omit<Comparison, "json">), json };
}

/** A recording in another capture format, or as spans with `otlp-json`. What that cannot carry is left out, with a note for each. */
export function convert(recording: Recording, to: string, options: ConvertOptions = {}): Uint8Array {
  const all = { ...options, to };
  return one("convert", recording, all).body;
}

/** A recording drawn as a sequence diagram, with the findings of `check`. One that is rejected is drawn up to that place. */
export function show(recording: Recording, output: "text" | "svg" | "html" = "text", options: ShowOptions = {}): string {
  const all = { ...options, output };
  return text(one("show", recording, all).body);
}

function one(name: string, recording: Recording, { name: called, ...options }: One): Reply {
  const [usual, bytes] = host.bytes(recording);
  return call(name, [called ?? usual, ""], [bytes], options);
}

/** Options that are lists; one word is a list of one. */
const LISTS: Record<string, string[]> = { check: ["select", "ignore", "redacted"], diff: ["ignore"] };

function call(name: string, names: [string, string], recordings: Uint8Array[], all: Common): Reply {
  const { onProgress, onNote, ...given } = all;
  const options: Record<string, unknown> = given;
  for (const list of LISTS[name] ?? []) {
    if (typeof options[list] === "string") options[list] = [options[list]];
  }
  const reply = host.engine().call({ function: name, options, names }, recordings, onProgress);
  reply.notes.forEach(onNote ?? host.note);
  return reply;
}
