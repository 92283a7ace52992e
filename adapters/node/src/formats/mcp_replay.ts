/**
 * mcp-replay, version 1.
 *
 * Knows: `in` and `out` lines carry the messages, and the first line says what file this is. Refuses to know: the clock,
 * every other direction, and line types that are not its own.
 */

import { lines } from '../bytes.js';
import type { Session, Side } from '../contract.js';
import { JsonNumber, JsonObject } from '../json.js';
import { kindOf, member } from '../members.js';
import { Rejection } from '../rejection.js';

const ONE = new JsonNumber('1');
const SENDERS: ReadonlyMap<string, Side> = new Map([['in', 'client'], ['out', 'server']]);

export function readMcpReplay(bytes: Uint8Array, session: Session): void {
  let [begun, ended] = [false, false];
  for (const { value: line, place } of lines(bytes)) {
    if (!(line instanceof JsonObject)) throw new Rejection('not-a-message', place, `a line is an object, and this is ${kindOf(line)}`);
    const type = member(line, 'type', place);
    if (!begun) {
      checkMeta(line, place);
      begun = true;
    } else if (type === 'meta') {
      throw new Rejection('second-meta', place, 'a second recording begins here');
    } else if (member(line, 'dir', place) !== undefined || type === undefined) {
      readLine(line, place, ended, session);
    } else if (type === 'end') {
      ended = true;
    }
  }
  if (!begun) throw new Rejection('missing-meta', 'line 1', 'there is no meta line');
}

function checkMeta(line: JsonObject, place: string): void {
  if (member(line, 'type', place) !== 'meta') throw new Rejection('missing-meta', place, 'the first line is not of type meta');
  for (const name of ['v', 'startedAt', 'label', 'command']) {
    if (member(line, name, place) === undefined) throw new Rejection('missing-meta', place, `the meta line has no \`${name}\``);
  }
  const version = line.get('v');
  if (!(version instanceof JsonNumber && version.equals(ONE))) {
    throw new Rejection('unsupported-version', place, `\`v\` is ${version instanceof JsonNumber ? version.text : kindOf(version ?? null)}, and 1 is what is read here`);
  }
}

/** A line of traffic, ours or somebody else's. */
function readLine(line: JsonObject, place: string, ended: boolean, session: Session): void {
  const [dir, raw] = [member(line, 'dir', place), member(line, 'raw', place)];
  if (typeof dir !== 'string') {
    if (raw === undefined) return;
    throw new Rejection('missing-dir', place, 'there is a `raw`, and no `dir` says who sent it');
  }
  const from = SENDERS.get(dir);
  if (from === undefined) return;
  if (raw === undefined) throw new Rejection('missing-raw', place, `\`dir\` is "${dir}", and there is no \`raw\``);
  if (ended) throw new Rejection('after-end', place, 'a message stands behind the end line');
  session.add(raw, `${place}, /raw`, from);
}
