/** The functions in a browser. A recording is bytes. */
import { use } from "./api.js";
import { Engine } from "./engine.js";
import { ConcordError } from "./errors.js";
import type { InitOptions, Recording } from "./types.js";

export {
  check, ConcordError, convert, describe, diff, ExactNumber, identify, read, readText, show, summary,
} from "./api.js";
export type * from "./api.js";

let engine: Engine | undefined;

/** Loads the library, which has to be done once before the functions are called. */
export async function init(options: InitOptions = {}): Promise<void> {
  const given = options.module ?? new URL("../concord.wasm", import.meta.url);
  const fetched = typeof given === "string" || given instanceof URL ? await fetch(given) : given;
  const bytes = fetched instanceof Response ? await fetched.arrayBuffer() : fetched;
  const module = bytes instanceof WebAssembly.Module ? bytes : await WebAssembly.compile(bytes as BufferSource);
  engine = new Engine(module, options.memory ?? 2048);
}

use({
  engine() {
    if (engine === undefined) throw new ConcordError("the library is not loaded: await init() first", "not-loaded");
    return engine;
  },
  bytes,
  note: (note) => console.warn(note),
});

function bytes(recording: Recording): [string, Uint8Array] {
  if (ArrayBuffer.isView(recording)) return ["<bytes>", new Uint8Array(recording.buffer, recording.byteOffset, recording.byteLength)];
  if (recording instanceof ArrayBuffer) return ["<bytes>", new Uint8Array(recording)];
  throw new TypeError(`in a browser a recording is bytes, not ${recording === null ? "null" : typeof recording}`);
}
