import { ConcordError, type Place } from "./errors.js";

/** What a call gives back: the bytes of the answer, notes on it, and what else there is to say. */
export interface Reply {
  body: Uint8Array;
  notes: string[];
  also: unknown;
}

/** A function of the library, with its options. */
export interface Request {
  function: string;
  options: object;
  names: [string, string];
}

/** Told how many bytes are read, before each MiB; `false` ends the call with the code `interrupted`. */
export type Progress = (bytes: number) => boolean | void;

interface Exports {
  reserve(slot: number, length: number): number;
  answer(): number;
  reply_length(): number;
}

interface Instance {
  memory: WebAssembly.Memory;
  exports: Exports;
  /** What the library said as it broke. */
  panic: string | null;
  read: number;
  progress: Progress | undefined;
}

const PAGE = 65_536;
const MIB = 1_048_576;
/** What the module asks for at its start. */
const LEAST = 8;
/** An instance's memory never shrinks. One that has grown beyond this is dropped, so that its memory is free again. */
const KEPT = 64;

/** The WebAssembly module at work. A call has an instance for itself, and one that failed is not used again. */
export class Engine {
  #idle: Instance | null = null;

  /** @param limit the most memory that a call may take, in MiB. */
  constructor(
    private readonly module: WebAssembly.Module,
    private readonly limit: number,
  ) {
    if (!(limit >= LEAST && limit <= 4096)) throw new RangeError(`memory: ${limit} is not between ${LEAST} and 4096 MiB`);
  }

  call(request: Request, recordings: Uint8Array[], progress?: Progress): Reply {
    const instance = this.#idle ?? this.#start();
    this.#idle = null;
    instance.read = 0;
    instance.progress = progress;
    const reply = this.#answer(instance, request, recordings);
    if (instance.memory.buffer.byteLength <= KEPT * MIB) this.#idle = instance;
    const end = reply.indexOf(0x0a);
    const head = JSON.parse(text(reply.subarray(0, end))) as Head;
    if ("error" in head) throw new ConcordError(head.text, head.error.code, head.error);
    return { body: reply.subarray(end + 1), notes: head.notes, also: head.also };
  }

  #answer(instance: Instance, request: Request, recordings: Uint8Array[]): Uint8Array {
    const { memory, exports } = instance;
    try {
      [new TextEncoder().encode(JSON.stringify(request)), ...recordings].forEach((bytes, slot) => {
        const at = exports.reserve(slot, bytes.length) >>> 0;
        if (at === 0) throw this.#tooLarge();
        new Uint8Array(memory.buffer).set(bytes, at);
      });
      const at = exports.answer() >>> 0;
      return new Uint8Array(memory.buffer).slice(at, at + (exports.reply_length() >>> 0));
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      if (instance.panic === null) throw this.#tooLarge();
      throw new ConcordError(`a fault in mcp-concord, please report it: ${instance.panic}`, "panic");
    }
  }

  #tooLarge(): ConcordError {
    return new ConcordError(`the call needs more than ${this.limit} MiB of memory`, "out-of-memory");
  }

  #start(): Instance {
    const memory = new WebAssembly.Memory({ initial: (LEAST * MIB) / PAGE, maximum: (this.limit * MIB) / PAGE });
    const instance: Instance = { memory, exports: undefined as unknown as Exports, panic: null, read: 0, progress: undefined };
    const at = (start: number, length: number) => new Uint8Array(memory.buffer, start >>> 0, length >>> 0);
    const concord = {
      stop: () => {
        const read = instance.read;
        instance.read += MIB;
        return instance.progress?.(read) === false ? 1 : 0;
      },
      panicked: (start: number, length: number) => void (instance.panic = text(at(start, length))),
      random: (start: number, length: number) => void globalThis.crypto.getRandomValues(at(start, length)),
    };
    instance.exports = new WebAssembly.Instance(this.module, { env: { memory }, concord }).exports as unknown as Exports;
    return instance;
  }
}

type Head = { error: Place & { code: string }; text: string } | { notes: string[]; also: unknown };

export function text(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
