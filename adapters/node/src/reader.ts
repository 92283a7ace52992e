/**
 * The way in: from the bytes of a transcript to its meaning.
 *
 * Knows: which formats there are. Refuses to know: files, and everything about a transcript but its bytes and format.
 */

import { DIALECTS, type Meaning, Session } from './contract.js';
import { readEnvelope } from './formats/envelope.js';
import { readHar } from './formats/har.js';
import { readInspector } from './formats/inspector.js';
import { readJsonrpc } from './formats/jsonrpc.js';
import { readMcpReplay } from './formats/mcp_replay.js';

type Reader = (bytes: Uint8Array, session: Session, notes: string[]) => void;

export const FORMATS: ReadonlyMap<string, { file: string; carriesDiscovery: boolean; read: Reader }> = new Map([
  ['jsonrpc', { file: 'jsonrpc.jsonl', carriesDiscovery: false, read: readJsonrpc }],
  ['streamable-http', { file: 'streamable-http.json', carriesDiscovery: true, read: readEnvelope('streamable-http') }],
  ['http-sse', { file: 'http-sse.json', carriesDiscovery: true, read: readEnvelope('http-sse') }],
  ['mcp-replay', { file: 'mcp-replay.jsonl', carriesDiscovery: false, read: readMcpReplay }],
  ['inspector', { file: 'inspector.json', carriesDiscovery: false, read: readInspector }],
  ['har', { file: 'har.har', carriesDiscovery: true, read: readHar }],
]);

export interface Reading extends Meaning {
  /** What a person should know who takes this for the whole session. */
  notes: string[];
}

/** Throws a `Rejection` where the transcript is none, and a `RangeError` where there is no such format or dialect. */
export function read(bytes: Uint8Array, format: string, dialect = 'default'): Reading {
  const reader = FORMATS.get(format === 'sse-legacy' ? 'http-sse' : format);
  if (reader === undefined) throw new RangeError(`there is no format ${format}`);
  const ids = DIALECTS.get(dialect);
  if (ids === undefined) throw new RangeError(`there is no dialect ${dialect}`);
  const [session, notes] = [new Session(ids), [] as string[]];
  reader.read(bytes, session, notes);
  return { ...session.meaning(), notes };
}
