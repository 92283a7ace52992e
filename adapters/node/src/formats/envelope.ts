/**
 * The two HTTP envelopes, `streamable-http` and `http-sse`.
 *
 * Knows: an entry holds what the client sent, what the server answered, or one event of a stream. Refuses to know: time
 * stamps, event ids and every header but that of a 401 challenge.
 */

import { document } from '../bytes.js';
import { discovery } from '../challenge.js';
import { type Session, version } from '../contract.js';
import { type Json, JsonNumber, JsonObject } from '../json.js';
import { kindOf, member, stringMember } from '../members.js';
import { Rejection } from '../rejection.js';
import { carried } from '../sse.js';

const SLOTS = ['request', 'response', 'sse'] as const;

export function readEnvelope(label: 'streamable-http' | 'http-sse') {
  return (bytes: Uint8Array, session: Session): void => {
    const envelope = document(bytes);
    if (!(envelope instanceof JsonObject)) {
      throw new Rejection('wrong-document', '', `an envelope is an object, and the file is ${kindOf(envelope)}`);
    }
    if (member(envelope, 'transport', '') !== label) throw new Rejection('wrong-transport', '/transport', `it is not "${label}"`);
    const entries = member(envelope, 'entries', '');
    if (!Array.isArray(entries)) throw new Rejection('missing-entries', '/entries', 'there is no array of entries');
    for (const [at, entry] of entries.entries()) readEntry(entry, `/entries/${at}`, session);
  };
}

function readEntry(entry: Json, place: string, session: Session): void {
  if (!(entry instanceof JsonObject)) throw new Rejection('invalid-entry', place, `it is ${kindOf(entry)}, and an object is due`);
  const [slot, ...others] = SLOTS.filter((name) => entry.has(name));
  if (slot === undefined || others.length > 0) {
    throw new Rejection('invalid-entry', place, 'an entry holds one of request, response and sse');
  }
  const content = member(entry, slot, place) ?? null;
  const here = `${place}/${slot}`;
  const context = member(entry, 'transport_context', place);
  const known = (name: string) => (context instanceof JsonObject ? member(context, name, `${place}/transport_context`) : undefined);
  const headers = slot === 'sse' ? undefined : known('headers');
  if (slot === 'request' && headers instanceof JsonObject) session.named(version(pairs(headers)));
  if (slot === 'response') {
    const status = known('status');
    if (headers instanceof JsonObject) session.challenged(discovery(status, pairs(headers)));
    if (content !== null && !isErrorBody(content, status)) session.add(content, here, 'server');
  } else if (content === null) {
    // A slot that is there and empty, such as the body of a 202.
  } else if (slot === 'request') {
    session.add(content, here, 'client');
  } else if (content instanceof JsonObject) {
    const [name, data] = [stringMember(content, 'event', here), member(content, 'data', here)];
    const found = carried(name ?? '', data, `${here}/data`);
    if (found !== undefined) session.add(found, `${here}/data`, 'server');
  } else {
    throw new Rejection('wrong-type', here, `it is ${kindOf(content)}, and an object is due`);
  }
}

/** An object under an HTTP error that is no JSON-RPC, such as `{"error":"invalid_token"}`. */
function isErrorBody(content: Json, status: Json | undefined): boolean {
  if (!(content instanceof JsonObject) || content.has('jsonrpc')) return false;
  if (content.has('method') || content.has('result') || content.get('error') instanceof JsonObject) return false;
  return status instanceof JsonNumber && Number(status.text) >= 400;
}

function* pairs(headers: JsonObject): Generator<[string, Json]> {
  for (const [at, name] of headers.names.entries()) yield [name, headers.values[at] ?? null];
}
