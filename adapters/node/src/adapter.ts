#!/usr/bin/env node
// A small importer in TypeScript and its adapter: what most programs do first, with JSON.parse. baseline.toml says what that costs.
//
//     node adapter.js     protocol 1: a JSON object a line on stdin, an answer a line on stdout
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

type Sender = 'client' | 'server' | 'either';
type Message = Record<string, unknown>;
type Event = Record<string, unknown> & { kind: string };

class Rejection extends Error {
  constructor(readonly code: string, place: string, why: string) {
    super(`${place}: ${why}`);
  }
}

// --- from messages to meaning --------------------------------------------------------------------------------------

const has = (object: Message, name: string) => Object.hasOwn(object, name);

const isObject = (value: unknown): value is Message => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The id as text; a number has lost its spelling here, and a large one its last digits. */
function idOf(message: Message, place: string): string | null {
  const id = message.id ?? null;
  if (id === null || typeof id === 'string') return id;
  if (typeof id === 'number') return String(id);
  throw new Rejection('invalid-id', place, 'an id is a string, a number or null');
}

class Session {
  readonly events: Event[] = [];
  /** The requests that wait, oldest first: their index, their id and who asked. */
  private open: { index: number; id: string; asker: Sender }[] = [];
  private readonly callIds = new Set<string>();

  add(message: unknown, sender: Sender, place: string): void {
    if (Array.isArray(message)) throw new Rejection('batch', place, 'this importer reads no batches');
    if (!isObject(message)) throw new Rejection('not-a-message', place, 'a message is a JSON object');
    const kinds = ['method', 'result', 'error'].filter((name) => has(message, name));
    if (kinds.length === 0 && !has(message, 'jsonrpc')) throw new Rejection('not-a-message', place, 'no method, no result, no error');
    if (message.jsonrpc !== '2.0') throw new Rejection('invalid-version', place, 'jsonrpc is not "2.0"');
    if (kinds.length === 0) throw new Rejection('not-a-message', place, 'no method, no result and no error');
    if (has(message, 'method') && typeof message.method !== 'string') throw new Rejection('invalid-method', place, 'a method is text');
    if (kinds.length > 1) throw new Rejection('ambiguous-message', place, `${kinds.join(' and ')} in one message`);
    const id = idOf(message, place);
    this.events.push(has(message, 'method') ? this.asking(message, id, sender, place) : this.answering(message, id, sender));
  }

  private asking(message: Message, id: string | null, asker: Sender, place: string): Event {
    const method = message.method as string;
    const named = id === null ? {} : { id };
    if (id !== null) this.open.push({ index: this.events.length, id, asker });
    if (method !== 'tools/call') {
      const kind = id === null ? 'notification' : 'request';
      return { kind, ...named, method, ...(has(message, 'params') ? { params: message.params } : {}) };
    }
    if (id !== null && this.callIds.has(id)) throw new Rejection('duplicate-call-id', place, `a second tools/call with the id ${id}`);
    if (id !== null) this.callIds.add(id);
    const params = isObject(message.params) ? message.params : {};
    const tool = has(params, 'name') ? { tool: params.name } : {};
    return { kind: 'tool_call', ...named, ...tool, ...(has(params, 'arguments') ? { arguments: params.arguments } : {}) };
  }

  private answering(message: Message, id: string | null, sender: Sender): Event {
    const kind = has(message, 'result') ? 'result' : 'error';
    const at = this.open.findIndex((asked) => asked.id === id && (sender === 'either' || asked.asker !== sender));
    const [asked] = at < 0 ? [] : this.open.splice(at, 1);
    return { kind, ...(id === null ? {} : { id }), answers: asked?.index ?? null, [kind]: message[kind] };
  }
}

// --- the formats ---------------------------------------------------------------------------------------------------

/** The values of the lines that are not blank. Only LF ends a line. */
function linesOf(text: string): [string, unknown][] {
  const lines = text.split('\n').map((line, index): [string, string] => [`line ${index + 1}`, line]);
  return lines.filter(([, line]) => /[^ \t\r]/.test(line)).map(([place, line]) => {
    try {
      return [place, JSON.parse(line)];
    } catch {
      throw new Rejection('invalid-json', place, 'this is not JSON');
    }
  });
}

function jsonrpc(text: string, session: Session): void {
  for (const [place, message] of linesOf(text)) session.add(message, 'either', place);
}

const META = ['type', 'startedAt', 'label', 'command'];

function mcpReplay(text: string, session: Session): void {
  const [first, ...lines] = linesOf(text);
  if (!first || !isObject(first[1]) || first[1].type !== 'meta') throw new Rejection('missing-meta', 'line 1', 'no meta line');
  const meta = first[1];
  if (has(meta, 'v') && meta.v !== 1) throw new Rejection('unsupported-version', first[0], 'only version 1 is read');
  if (!['v', ...META].every((name) => has(meta, name))) throw new Rejection('missing-meta', first[0], 'the meta line lacks a member');
  let ended = false;
  for (const [place, line] of lines) {
    if (!isObject(line)) throw new Rejection('not-a-message', place, 'a line is a JSON object');
    if (line.dir === 'in' || line.dir === 'out') {
      if (!has(line, 'raw')) throw new Rejection('missing-raw', place, 'a message line without raw');
      if (ended) throw new Rejection('after-end', place, 'a message after the end line');
      session.add(line.raw, line.dir === 'in' ? 'client' : 'server', place);
    } else if (typeof line.dir !== 'string') {
      if (line.type === 'meta') throw new Rejection('second-meta', place, 'a second meta line');
      if (has(line, 'raw') && !has(line, 'type')) throw new Rejection('missing-dir', place, 'a raw that does not say who sent it');
      ended ||= line.type === 'end';
    }
  }
}

const FORMATS = new Map([['jsonrpc', jsonrpc], ['mcp-replay', mcpReplay]]);

// --- the adapter ---------------------------------------------------------------------------------------------------

const HELLO = { protocol: 1, name: 'concord-node', version: '0.1.0', language: 'typescript', level: 'events', formats: [...FORMATS.keys()] };

function answer(path: string, format: string): object {
  const read = FORMATS.get(format);
  if (!read) return { unsupported: `there is no reader for the format ${format}` };
  // A file that cannot be opened is not a rejection: it ends the program, and the harness sees a crash.
  const bytes = readFileSync(path);
  const session = new Session();
  try {
    read(decoded(bytes), session);
    return { meaning: { events: session.events } };
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    return { rejection: { message: error.message, code: error.code } };
  }
}

/** The text without a byte order mark. Buffer.toString would put U+FFFD for what is not UTF-8. */
function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Rejection('invalid-utf8', 'the file', 'not UTF-8');
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.cmd === 'stop') break;
  const reply = request.cmd === 'start' ? HELLO : { seq: request.seq, ...answer(request.path, request.format) };
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
