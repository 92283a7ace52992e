import type { Progress } from "./engine.js";
import type { ExactNumber } from "./exact.js";

/** A recording: its bytes or, in Node, its path. */
export type Recording = string | URL | Uint8Array | ArrayBuffer;

/** How the library is loaded. */
export interface InitOptions {
  /** The most memory that a call may take, in MiB: 2048. */
  memory?: number;
  /** In a browser the file `concord.wasm`, if it is not beside the script: its URL, a `Response`, its bytes, or a `WebAssembly.Module`. */
  module?: string | object;
}

/** A value out of a recording. A number that JavaScript would change is an `ExactNumber`. */
export type Json = null | boolean | number | string | ExactNumber | Json[] | { [member: string]: Json };

/** What every function takes. */
export interface Common {
  /** Told how many bytes are read, before each MiB; `false` ends the call with the code `interrupted`. */
  onProgress?: Progress;
  /** Told what a person should know of the answer, such as what a format cannot carry. By default it is a warning of the process, or on the console. */
  onNote?: (note: string) => void;
}

/** What a function of one recording takes. */
export interface One extends Common {
  /** What to call the recording; its path, or `<bytes>`. */
  name?: string;
  /** The capture format, instead of detecting it from the content. */
  format?: string;
}

export interface ReadOptions extends One {
  /** Only tool calls and their outcomes. */
  calls?: boolean;
  /** The dialect of the reading contract. */
  dialect?: string;
  /** Skip what is not a message where one belongs, with a note for each. */
  lenient?: boolean;
}

export interface CheckOptions extends One {
  /** Judge by this revision instead of the one that the session shows. */
  spec?: string;
  /** Only these rules: ids, prefixes of ids up to a dot, or families. */
  select?: string | string[];
  /** Not these rules. */
  ignore?: string | string[];
  /** The least that is reported. */
  level?: "must" | "should" | "info";
  /** Warnings count as errors. */
  strict?: boolean;
  /** Accept a recording without messages, in which nothing can be judged. */
  allowEmpty?: boolean;
  /** Whose violations. */
  profile?: "recorder" | "session" | "server" | "client" | "all";
  /** A frozen set of rules in place of the selection: the name of a revision, whose rules in this version are meant, or the TOML of a set. */
  require?: string;
  /** Markers in place of redacted values, beside `[REDACTED]`. */
  redacted?: string | string[];
  /** The text of version 1 of mcp-replay that a trace must follow. */
  mcpReplayText?: "first" | "later";
  /** List rules that were kept, or that nothing called for, too. */
  every?: boolean;
}

export interface DiffOptions extends Common {
  /** What to call the recordings. */
  names?: [string?, string?];
  leftFormat?: string;
  rightFormat?: string;
  /** A string that contains this marker equals any value. */
  redacted?: string;
  /** Whether ids must be equal, or may be renamed one to one. */
  ids?: "exact" | "renumbered";
  /** JSON pointers into the events that are left out; `*` matches any member or item. */
  ignore?: string | string[];
  /** Leave out the order in which answers come. */
  unorderedAnswers?: boolean;
  /** Leave out refused requests. */
  ignoreRefusals?: boolean;
  /** Leave out who sent an event, which is compared where both formats show it. */
  ignoreSenders?: boolean;
  /** Count an SSE event that was delivered again once. */
  foldRedelivered?: boolean;
  /** List at most this many differences; all are counted. */
  show?: number;
}

export interface ConvertOptions extends One {
  /** Write even if the meaning changes, with a note. */
  lossy?: boolean;
  /** Take what is whole of a recording that was cut off. */
  salvage?: boolean;
}

export interface ShowOptions extends One {
  /** Fold nothing. */
  all?: boolean;
  /** Draw only from this message on. */
  from?: number;
  /** Draw only up to this message. */
  to?: number;
  /** Draw the findings of `check`. */
  check?: boolean;
  /** Skip what is not a message where one belongs, and mark its place. */
  lenient?: boolean;
  /** How wide text is drawn, in columns. */
  width?: number;
}

/** A rule, and what came of it at one place: an item of `mcp-concord check --output json`. */
export interface Finding {
  /** The rule's id; `mcp-concord explain ID` says more. */
  rule: string;
  verdict: "fail" | "warn" | "info" | "inconclusive" | "pass" | "not-applicable";
  /** How much the rule binds. */
  level: "must" | "should" | "info";
  /** Who is at fault. */
  party: "client" | "server" | "sender" | "recorder";
  /** The recording, as it was named. */
  file: string;
  /** The line, from 1; null where the verdict has no place. */
  line: number | null;
  /** JSON pointer into the document or the line. */
  pointer: string | null;
  /** JSON pointer into the text at that place, where the message is a text inside the document. */
  within?: string;
  /** What is wrong, or what would decide it. */
  message: string;
  /** The page of the document that was broken. */
  link?: string;
  /** What stands there, cut to a length that can be shown. */
  snippet?: string;
  /** Another message that matters. */
  other?: { what: string; line: number; pointer: string; snippet: string };
  /** How many more places like this were found and are not listed. */
  more?: number;
}

/** What `check` found in a recording. */
export interface Report {
  /** The findings, and the rules that could not be decided. */
  findings: Finding[];
  /** Whether nothing counts as a fault: no error, with `strict` no warning, and no required rule broken. */
  ok: boolean;
  /** The capture format. */
  format: string;
  /** The revision by which it was judged; null where nothing shows it. */
  revision: string | null;
  /** How many messages there are. */
  messages: number;
  /** A limit of memory that was reached, in words. */
  limit: string | null;
  /** Where and why the reader gave up. What stands behind it was not judged. */
  stopped: { line: number; pointer: string; clause: string; message: string } | null;
  /** What became of the frozen set, in numbers of rules. */
  required: {
    suite: string;
    revision: string;
    kept: number;
    uncalled: number;
    inconclusive: number;
    broken: number;
    whole: boolean;
  } | null;
  /** What `mcp-concord check --output json` prints. */
  json: string;
}

/** An event of one of two recordings. */
export interface ComparedEvent {
  /** Its place among the events, from 0. */
  index: number;
  line: number;
  pointer: string;
  /** The event in the normal form, as `read` gives it. */
  event: { [member: string]: Json };
  /** What stands at the place of the difference; absent where nothing does. */
  value?: Json;
}

export interface Difference {
  /** JSON pointer into the events; null where an event has no counterpart. */
  pointer: string | null;
  /** Pointers to other differences of the event, up to 100; absent where there are none. */
  also?: string[];
  a: ComparedEvent | null;
  b: ComparedEvent | null;
}

/** What `mcp-concord diff --output json` prints, and its text. */
export interface Comparison {
  /** Whether both are recordings of the same session. */
  same: boolean;
  recordings: { name: string; format: string }[];
  equal: number;
  differ: number;
  only_a: number;
  only_b: number;
  /** Values that count as equal because one of them is redacted. */
  redacted: number;
  /** Places that were left out. */
  ignored: number;
  kinds: { kind: string; differ: number; only_a: number; only_b: number }[];
  differences: Difference[];
  /** Differences that are counted and not listed. */
  hidden: number;
  json: string;
}
