#!/usr/bin/env node
/**
 * The reader as an importer under test.
 *
 *     node adapter.js                      protocol 1: a JSON object a line on stdin, an answer a line on stdout
 *     node adapter.js read FILE FORMAT     one answer; exit 0 for a meaning, 65 for a rejection
 *     node adapter.js --dialect NAME …     the same in a dialect of the contract, which the handshake then names
 *
 * Knows: the protocol. Refuses to know: what is expected. A file that cannot be opened is no rejection, nor is a fault in
 * the reader: both end the program, and the harness sees a crash.
 */

import { readFileSync } from 'node:fs';
import { DIALECTS, meaningJson } from './contract.js';
import { type Json, JsonNumber, JsonObject, parse, write } from './json.js';
import { FORMATS, read } from './reader.js';
import { Rejection } from './rejection.js';

const [REJECTED, MISUSED] = [65, 2];

const hello = (dialect: string) => JsonObject.of([
  ['protocol', new JsonNumber('1')],
  ['name', 'concord-node'],
  ['version', '0.1.0'],
  ['language', 'typescript'],
  ['homepage', 'https://github.com/mcp-concord/mcp-concord'],
  ['formats', [...FORMATS.keys()]],
  ['level', 'events'],
  ['dialect', dialect],
]);

/** Answers each line as it comes. The text is cut at LF alone; Node's readline would cut it at U+2028 too. */
async function serve(dialect: string): Promise<void> {
  let pending = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    const lines = (pending + String(chunk)).split('\n');
    pending = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() === '') continue;
      const reply = replyTo(parse(line), dialect);
      if (reply === null) return;
      process.stdout.write(`${write(reply)}\n`);
    }
  }
}

/** `null` where the conversation is over. */
function replyTo(request: Json, dialect: string): JsonObject | null {
  const field = (name: string): Json => (request instanceof JsonObject ? request.get(name) : undefined) ?? null;
  const [command, path, format] = [field('cmd'), field('path'), field('format')];
  if (command === 'stop') return null;
  if (command === 'start') {
    const protocol = field('protocol');
    if (protocol instanceof JsonNumber && protocol.text === '1') return hello(dialect);
    throw new Misuse(`this adapter speaks protocol 1, not ${write(protocol)}`);
  }
  if (command !== 'read' || typeof path !== 'string' || typeof format !== 'string') {
    throw new Misuse(`this is no request of protocol 1: ${write(request)}`);
  }
  return JsonObject.of([['seq', field('seq')], answer(path, format, dialect, [])]);
}

/** The one member that an answer consists of. */
function answer(path: string, format: string, dialect: string, notes: string[]): [string, Json] {
  if (!FORMATS.has(format) && format !== 'sse-legacy') return ['unsupported', `there is no reader for the format ${format}`];
  try {
    const reading = read(readFileSync(path), format, dialect);
    notes.push(...reading.notes);
    return ['meaning', meaningJson(reading)];
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    return ['rejection', JsonObject.of([['message', error.message], ['code', error.code]])];
  }
}

class Misuse extends Error {}

async function main(given: string[]): Promise<void> {
  const [option, named = ''] = given;
  const [dialect, command] = option === '--dialect' ? [named, given.slice(2)] : ['default', given];
  if (!DIALECTS.has(dialect)) throw new Misuse(`there is no dialect ${JSON.stringify(dialect)}; there are ${[...DIALECTS.keys()].join(', ')}`);
  const [verb, path, format] = command;
  if (verb === undefined) {
    await serve(dialect);
    // Nobody reads stdin any more, and an open pipe would keep the process.
    process.stdin.destroy();
  } else if (verb === 'read' && path !== undefined && format !== undefined && command.length === 3) {
    const notes: string[] = [];
    const [kind, value] = answer(path, format, dialect, notes);
    process.stdout.write(`${write(JsonObject.of([[kind, value]]))}\n`);
    for (const note of notes) process.stderr.write(`${note}\n`);
    if (kind === 'rejection') process.exitCode = REJECTED;
  } else {
    throw new Misuse('usage: adapter.js [--dialect NAME] [read FILE FORMAT]');
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Misuse)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = MISUSED;
  process.stdin.destroy();
}
