/**
 * Server-sent events.
 *
 * Knows: how the WHATWG parses a stream, and which data is a message, which is plainly none, and which is one that broke.
 * Refuses to know: where the stream or the event was recorded, and what the message says.
 */

import { withoutMark } from './bytes.js';
import { resembles } from './contract.js';
import { type Json, NotJson, parse } from './json.js';
import { Rejection } from './rejection.js';

export interface StreamEvent {
  name: string;
  data: string;
}

/** The events of a whole stream. One that no empty line ends is thrown away. */
export function* events(stream: string): Generator<StreamEvent> {
  for (const event of blocks(stream)) {
    if (event !== null) yield event;
  }
}

/** What stands between empty lines: an event, or `null` where it is a comment or fields without data. */
export function* blocks(stream: string): Generator<StreamEvent | null> {
  let [name, data, begun] = ['', [] as string[], false];
  for (const line of finishedLines(withoutMark(stream))) {
    if (line === '') {
      if (begun) yield data.length > 0 ? { name, data: data.join('\n') } : null;
      [name, data, begun] = ['', [], false];
      continue;
    }
    begun = true;
    // A line that starts with a colon is a comment; here it is a field without a name, which nobody asks for.
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') name = value;
    if (field === 'data') data.push(value);
  }
}

/** Lines that LF, CR or CRLF ends; what stands behind the last end is no line. */
function* finishedLines(text: string): Generator<string> {
  const end = /\r\n|\n|\r/g;
  let start = 0;
  for (let found = end.exec(text); found !== null; found = end.exec(text)) {
    yield text.slice(start, found.index);
    start = end.lastIndex;
  }
}

/** What claims to be a message in an event's data, or to be an array of such; `undefined` where it carries none. */
export function carried(name: string, data: Json | undefined, place: string): Json | undefined {
  if (name !== '' && name !== 'message') return undefined;
  const value = typeof data === 'string' ? unwrapped(data, place) : data;
  return value !== undefined && (Array.isArray(value) ? value.some(resembles) : resembles(value)) ? value : undefined;
}

/** The JSON in a text; nothing where the text is just text. */
function unwrapped(text: string, place: string): Json | undefined {
  const value = parsed(text);
  if (value === undefined && /^[ \t\r\n]*\{/.test(text)) {
    throw new Rejection('broken-data', place, 'the data begins like an object and is no JSON');
  }
  if (typeof value === 'string' && resembles(parsed(value) ?? null)) {
    throw new Rejection('nested-data', place, 'the data is a JSON string that holds the text of a message');
  }
  return value;
}

function parsed(text: string): Json | undefined {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }
}
