/**
 * The Inspector's files: bare messages, and the entries of its export.
 *
 * Knows: an entry holds a message, and the answer that came later if one did. Refuses to know: an entry's own id, and the
 * kind that it says its message is of.
 */

import { document } from '../bytes.js';
import { byTime, dateTime, milliseconds, type Time } from '../clock.js';
import type { Session, Side } from '../contract.js';
import { type Json, JsonNumber, JsonObject } from '../json.js';
import { kindOf, member } from '../members.js';
import { Rejection } from '../rejection.js';

interface Timed {
  said: Json;
  place: string;
  from: Side;
  time: Time;
}

const BEFORE_ALL: Time = -(10n ** 60n);

export function readInspector(bytes: Uint8Array, session: Session): void {
  const items = itemsOf(document(bytes));
  const timed: Timed[] = [];
  // A bare message has no time. It stays behind what stands before it in the file.
  let time = BEFORE_ALL;
  for (const { item, place } of items) {
    if (item instanceof JsonObject && item.has('message') && !item.has('jsonrpc')) {
      const entry = readEntry(item, place, time);
      time = entry[0].time;
      timed.push(...entry);
    } else {
      timed.push({ said: item, place, from: null, time });
    }
  }
  for (const { said, place, from } of timed.sort(byTime)) session.add(said, place, from);
}

function itemsOf(file: Json): { item: Json; place: string }[] {
  const events = file instanceof JsonObject ? member(file, 'events', '') : file;
  if (!Array.isArray(events)) {
    throw new Rejection('wrong-document', '', 'the file is neither an array of messages nor an object with an array of events');
  }
  const above = file instanceof JsonObject ? '/events' : '';
  return events.map((item, at) => ({ item, place: `${above}/${at}` }));
}

function readEntry(entry: JsonObject, place: string, before: Time): [Timed, ...Timed[]] {
  const from = sender(member(entry, 'origin', place), `${place}/origin`);
  const time = moment(member(entry, 'timestamp', place), `${place}/timestamp`) ?? before;
  const asked = { said: member(entry, 'message', place) ?? null, place: `${place}/message`, from, time };
  const duration = span(member(entry, 'duration', place), `${place}/duration`);
  const response = member(entry, 'response', place);
  if (response === undefined || response === null) return [asked];
  return [asked, { said: response, place: `${place}/response`, from: other(from), time: time + duration }];
}

function sender(origin: Json | undefined, place: string): Side {
  if (origin === undefined || origin === null) return null;
  if (origin === 'client' || origin === 'server') return origin;
  throw new Rejection('wrong-type', place, 'it is neither "client" nor "server"');
}

function other(side: Side): Side {
  return side && (side === 'client' ? 'server' : 'client');
}

function moment(value: Json | undefined, place: string): Time | undefined {
  if (value === undefined || value === null) return undefined;
  const time = typeof value === 'string' ? dateTime(value) : value instanceof JsonNumber ? milliseconds(value) : undefined;
  if (time === undefined) throw new Rejection('wrong-type', place, `${kindOf(value)} is no moment`);
  return time;
}

function span(value: Json | undefined, place: string): Time {
  if (value === undefined || value === null) return 0n;
  const time = value instanceof JsonNumber ? milliseconds(value) : undefined;
  if (time === undefined) throw new Rejection('wrong-type', place, `${kindOf(value)} is no number of milliseconds`);
  return time;
}
