/**
 * What a recorded session means.
 *
 * Knows: what is a JSON-RPC message, which request a response answers, and when a message makes a transcript unreadable.
 * Refuses to know: how messages are spelled in a file, and in which order they come; whoever adds them knows that.
 */

import { type Discovery, joined } from './challenge.js';
import { type Json, JsonNumber, JsonObject } from './json.js';
import { kindOf, member } from './members.js';
import { Rejection } from './rejection.js';

/** Who sent a message; `null` where the format does not tell. */
export type Side = 'client' | 'server' | null;

export type Message = (
  | { kind: 'tool_call'; tool?: Json; arguments?: Json }
  | { kind: 'request' | 'notification'; method: string; params?: Json }
  | { kind: 'result' | 'error'; content: Json }
) & { id?: string; idIs: 'text' | 'number' | 'null' | 'missing'; place: string };

export type Event = Message & { answers?: number | null };

export interface Meaning {
  events: Event[];
  discovery: Discovery | null;
}

/** What ids are to a reading; by default what the contract says. */
export interface Dialect {
  /** A number and a string are two ids. */
  typed: boolean;
  /** Tool calls and results have an id, and only an error has the id null. */
  required: boolean;
  /** A tool call may have the id of another one that is no longer open, or of the other side's. */
  reusable: boolean;
}

const DEFAULT: Dialect = { typed: false, required: false, reusable: false };

export const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['default', DEFAULT],
  ['typed-ids', { typed: true, required: true, reusable: true }],
]);

const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
const HAS_BATCHES = '2025-03-26';

/** The version that the headers of a request name. */
export function version(headers: Iterable<[string, Json]>): Json | undefined {
  for (const [name, value] of headers) {
    if (name.toLowerCase() === 'mcp-protocol-version') return value;
  }
  return undefined;
}

/** What a JSON value says as a message. */
export function message(value: Json, place: string): Message {
  if (Array.isArray(value)) throw new Rejection('batch', place, 'an array stands where one message belongs');
  if (!(value instanceof JsonObject)) throw new Rejection('not-a-message', place, `${kindOf(value)} is no JSON-RPC message`);
  if (!resembles(value)) {
    throw new Rejection('not-a-message', place, 'an object without jsonrpc, method, result and error is no message');
  }
  if (member(value, 'jsonrpc', place) !== '2.0') throw new Rejection('invalid-version', place, '`jsonrpc` is not "2.0"');
  const written = member(value, 'id', place);
  const id = correlationId(written, `${place}/id`);
  const idIs = typeof written === 'string' ? 'text' : written === undefined ? 'missing' : written === null ? 'null' : 'number';
  const common = id === undefined ? { idIs, place } as const : { id, idIs, place } as const;
  const [method, params] = [member(value, 'method', place), member(value, 'params', place)];
  const [result, error] = [member(value, 'result', place), member(value, 'error', place)];
  if ([method, result, error].filter((one) => one !== undefined).length > 1) {
    throw new Rejection('ambiguous-message', place, 'one message has more than one of method, result and error');
  }
  if (result !== undefined) return { kind: 'result', content: result, ...common };
  if (error !== undefined) return { kind: 'error', content: error, ...common };
  if (method === undefined) throw new Rejection('not-a-message', place, 'it has neither a method nor a result nor an error');
  if (typeof method !== 'string') throw new Rejection('invalid-method', `${place}/method`, `it is ${kindOf(method)}, no string`);
  if (method === 'tools/call') return { kind: 'tool_call', ...toolCall(params, `${place}/params`), ...common };
  const kind = id === undefined ? 'notification' : 'request';
  return { kind, method, ...(params === undefined ? {} : { params }), ...common };
}

/** Whether an object could be taken for a JSON-RPC message at all. */
export function resembles(value: Json): value is JsonObject {
  return value instanceof JsonObject && ['jsonrpc', 'method', 'result', 'error'].some((name) => value.has(name));
}

/** Strings as they are, numbers by their text; null and nothing are no id. */
function correlationId(id: Json | undefined, place: string): string | undefined {
  if (id === undefined || id === null) return undefined;
  if (typeof id === 'string') return id;
  if (id instanceof JsonNumber) return id.text;
  throw new Rejection('invalid-id', place, `${kindOf(id)} is no id`);
}

function toolCall(params: Json | undefined, place: string): { tool?: Json; arguments?: Json } {
  if (!(params instanceof JsonObject)) return {};
  const [tool, given] = [member(params, 'name', place), member(params, 'arguments', place)];
  return { ...(tool === undefined ? {} : { tool }), ...(given === undefined ? {} : { arguments: given }) };
}

/** Takes messages in their order and finds out what they answer. */
export class Session {
  readonly #events: Event[] = [];
  readonly #open = { client: new Open(), server: new Open(), unknown: new Open() };
  readonly #calls = new Map<string, string>();
  /** The tool calls that HTTP turned away. */
  readonly #turnedAway = new Set<number>();
  /** The initialize requests that wait for their answer. */
  readonly #handshakes = new Set<number>();
  /** As far as the session has shown it. */
  #revision: string | undefined;
  #discovery: Discovery | null = null;

  constructor(private readonly dialect: Dialect = DEFAULT) {}

  /** The header MCP-Protocol-Version of a request says which revision this is, until the session has shown it. */
  named(version: Json | undefined): void {
    if (typeof version === 'string' && REVISIONS.includes(version)) this.#revision ??= version;
  }

  /**
   * What stands where a message belongs: a message, or a batch, which is its messages in order.
   *
   * `turnedAway`: HTTP answered in the server's stead, so that the same request may come again.
   */
  add(value: Json, place: string, from: Side, turnedAway = false): void {
    if (!Array.isArray(value) || value.length === 0 || this.#revision !== HAS_BATCHES) {
      this.#add(message(value, place), from, turnedAway);
      return;
    }
    for (const [at, item] of value.entries()) this.#add(message(item, `${place}/${at}`), from, turnedAway);
  }

  #add(message: Message, from: Side, turnedAway: boolean): void {
    const at = this.#events.length;
    this.#requireId(message);
    const key = this.dialect.typed && message.id !== undefined ? `${message.idIs} ${message.id}` : message.id;
    if (message.kind === 'result' || message.kind === 'error') {
      const answers = this.#answered(key, from);
      this.#events.push({ ...message, answers });
      if (answers !== null && this.#handshakes.delete(answers) && message.kind === 'result') this.#agreed(message.content);
      return;
    }
    if (key !== undefined) {
      const open = this.#open[from ?? 'unknown'];
      if (message.kind === 'tool_call') this.#unique(key, message, open, turnedAway);
      if (message.kind === 'request' && message.method === 'initialize') this.#handshakes.add(at);
      open.ask(key, at);
    }
    this.#events.push(message);
  }

  #requireId({ kind, idIs, place }: Message): void {
    const mayLack = idIs === 'missing' && (kind === 'notification' || kind === 'error');
    const lacks = idIs === 'missing' || (idIs === 'null' && kind !== 'error');
    if (this.dialect.required && lacks && !mayLack) {
      throw new Rejection('invalid-id', place, 'a request and a result need an id that is not null');
    }
  }

  #agreed(result: Json): void {
    const version = result instanceof JsonObject ? result.get('protocolVersion') : undefined;
    if (typeof version === 'string' && REVISIONS.includes(version)) this.#revision = version;
  }

  /** A 401 challenge. Several in one session are one summary. */
  challenged(discovery: Discovery | null): void {
    this.#discovery = joined(this.#discovery, discovery);
  }

  meaning(): Meaning {
    return { events: this.#events, discovery: this.#discovery };
  }

  /** The oldest request with this id that the sender was asked and has not answered. */
  #answered(id: string | undefined, from: Side): number | null {
    if (id === undefined) return null;
    const { client, server, unknown } = this.#open;
    const asked = { client: [server, unknown], server: [client, unknown], unknown: [client, server, unknown] }[from ?? 'unknown'];
    let [oldest, found] = [Infinity, undefined as Open | undefined];
    for (const open of asked) {
      const at = open.oldest(id);
      if (at < oldest) [oldest, found] = [at, open];
    }
    found?.close(id);
    return found === undefined ? null : oldest;
  }

  #unique(key: string, { id, place }: Message, open: Open, turnedAway: boolean): void {
    const before = this.dialect.reusable
      ? open.waiting(key).filter((at) => !this.#turnedAway.has(at)).map((at) => this.#events[at]).find((event) => event?.kind === 'tool_call')?.place
      : this.#calls.get(key);
    if (before !== undefined) {
      throw new Rejection('duplicate-call-id', place, `the id ${JSON.stringify(id)} was used by the tool call at ${before}`);
    }
    if (turnedAway) this.#turnedAway.add(this.#events.length);
    else if (!this.dialect.reusable) this.#calls.set(key, place);
  }
}

/** The requests of one side that wait for an answer, by id. */
class Open {
  readonly #waiting = new Map<string, { events: number[]; first: number }>();

  ask(id: string, event: number): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) this.#waiting.set(id, { events: [event], first: 0 });
    else waiting.events.push(event);
  }

  oldest(id: string): number {
    const waiting = this.#waiting.get(id);
    return waiting?.events[waiting.first] ?? Infinity;
  }

  waiting(id: string): number[] {
    const waiting = this.#waiting.get(id);
    return waiting === undefined ? [] : waiting.events.slice(waiting.first);
  }

  close(id: string): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    // Not shifted off: a million requests of one id would then be moved a million times.
    waiting.first += 1;
    if (waiting.first === waiting.events.length) this.#waiting.delete(id);
  }
}

/** The meaning in its normal form. */
export function meaningJson(meaning: Meaning): JsonObject {
  return JsonObject.of([
    ['events', meaning.events.map(eventJson)],
    ['authorization_discovery', meaning.discovery && JsonObject.of(Object.entries(meaning.discovery))],
  ]);
}

function eventJson(event: Event): JsonObject {
  const json = JsonObject.of([['kind', event.kind]]);
  if (event.id !== undefined) json.add('id', event.id);
  switch (event.kind) {
    case 'tool_call':
      if (event.tool !== undefined) json.add('tool', event.tool);
      if (event.arguments !== undefined) json.add('arguments', event.arguments);
      break;
    case 'request':
    case 'notification':
      json.add('method', event.method);
      if (event.params !== undefined) json.add('params', event.params);
      break;
    default:
      json.add('answers', typeof event.answers === 'number' ? new JsonNumber(String(event.answers)) : null);
      json.add(event.kind, event.content);
  }
  return json;
}
