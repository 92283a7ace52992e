/** The functions in Node. A recording is a path or bytes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { use } from "./api.js";
import { Engine } from "./engine.js";
import type { InitOptions, Recording } from "./types.js";

export {
  check, ConcordError, convert, describe, diff, ExactNumber, identify, read, readText, show, summary,
} from "./api.js";
export type * from "./api.js";

let limit = 2048;
let engine: Engine | undefined;

/** Loads the library. Only a browser needs it; in Node it sets the limit of memory. */
export function init(options: InitOptions = {}): Promise<void> {
  limit = options.memory ?? limit;
  engine = undefined;
  return Promise.resolve();
}

use({
  engine: () => (engine ??= new Engine(new WebAssembly.Module(readFileSync(join(__dirname, "../concord.wasm"))), limit)),
  bytes,
  note: (note) => process.emitWarning(note, "ConcordWarning"),
});

function bytes(recording: Recording): [string, Uint8Array] {
  if (typeof recording === "string") return [recording, readFileSync(recording)];
  if (recording instanceof URL) return [fileURLToPath(recording), readFileSync(recording)];
  if (ArrayBuffer.isView(recording)) return ["<bytes>", new Uint8Array(recording.buffer, recording.byteOffset, recording.byteLength)];
  if (Object.prototype.toString.call(recording) === "[object ArrayBuffer]") return ["<bytes>", new Uint8Array(recording)];
  throw new TypeError(`a recording is a path or bytes, not ${recording === null ? "null" : typeof recording}`);
}
