/**
 * From the bytes of a file to JSON.
 *
 * Knows: strict UTF-8, the byte order mark, lines, and how to name the place of what is wrong. Refuses to know: formats.
 */

import { type Json, NotJson, parse } from './json.js';
import { Rejection } from './rejection.js';

const MARK = '\u{feff}';
const LF = 0x0a;
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function utf8(bytes: Uint8Array, place: string): string {
  try {
    return UTF8.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw new Rejection('invalid-utf8', place, 'these bytes are no UTF-8');
    // A string longer than the engine can hold.
    if (error instanceof Error && 'code' in error) throw new Rejection('limit', place, 'more text than one string can hold');
    throw error;
  }
}

export function withoutMark(text: string): string {
  return text.startsWith(MARK) ? text.slice(MARK.length) : text;
}

/** A file that is one JSON document. */
export function document(bytes: Uint8Array): Json {
  const text = withoutMark(utf8(bytes, ''));
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new Rejection(error.cut ? 'truncated' : 'invalid-json', position(text, error.at), error.message);
  }
}

/** The JSON values of a file that holds one on a line. Only LF ends a line; the CR before it is white space. */
export function* lines(bytes: Uint8Array): Generator<{ value: Json; place: string }> {
  let [start, number] = [0, 1];
  while (start < bytes.length) {
    const end = bytes.indexOf(LF, start);
    const unfinished = end < 0;
    const place = `line ${number}`;
    const decoded = utf8(bytes.subarray(start, unfinished ? bytes.length : end), place);
    const text = number === 1 ? withoutMark(decoded) : decoded;
    if (/[^ \t\r]/.test(text)) {
      try {
        yield { value: parse(text), place };
      } catch (error) {
        if (!(error instanceof NotJson)) throw error;
        const code = error.cut && unfinished ? 'truncated' : 'invalid-json';
        throw new Rejection(code, `${place}, column ${error.at + 1}`, error.message);
      }
    }
    [start, number] = [unfinished ? bytes.length : end + 1, number + 1];
  }
}

function position(text: string, at: number): string {
  const before = text.slice(0, at).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
