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
) & { id?: string; place: string };

export type Event = Message & { answers?: number | null };

export interface Meaning {
  events: Event[];
  discovery: Discovery | null;
}

/** What a JSON value says as a message. */
export function message(value: Json, place: string): Message {
  if (Array.isArray(value)) throw new Rejection('batch', place, 'an array stands where one message belongs');
  if (!(value instanceof JsonObject)) throw new Rejection('not-a-message', place, `${kindOf(value)} is no JSON-RPC message`);
  if (!resembles(value)) {
    throw new Rejection('not-a-message', place, 'an object without jsonrpc, method, result and error is no message');
  }
  if (member(value, 'jsonrpc', place) !== '2.0') throw new Rejection('invalid-version', place, '`jsonrpc` is not "2.0"');
  const id = correlationId(member(value, 'id', place), `${place}/id`);
  const common = id === undefined ? { place } : { id, place };
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
  #discovery: Discovery | null = null;

  /** `turnedAway`: HTTP answered in the server's stead, so that the same request may come again. */
  add(message: Message, from: Side, turnedAway = false): void {
    const at = this.#events.length;
    if (message.kind === 'result' || message.kind === 'error') {
      this.#events.push({ ...message, answers: this.#answered(message.id, from) });
      return;
    }
    if (message.id !== undefined) {
      if (message.kind === 'tool_call') this.#unique(message.id, message.place, turnedAway);
      this.#open[from ?? 'unknown'].ask(message.id, at);
    }
    this.#events.push(message);
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

  #unique(id: string, place: string, turnedAway: boolean): void {
    const before = this.#calls.get(id);
    if (before !== undefined) {
      throw new Rejection('duplicate-call-id', place, `the id ${JSON.stringify(id)} was used by the tool call at ${before}`);
    }
    if (!turnedAway) this.#calls.set(id, place);
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
