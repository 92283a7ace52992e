/**
 * HAR, version 1.2.
 *
 * Knows: which bodies of which exchanges may hold messages. Refuses to know: addresses, cookies, timings, and whether a
 * site is an MCP server; a body with `jsonrpc` in it is what tells.
 */

import { document, utf8, withoutMark } from '../bytes.js';
import { discovery } from '../challenge.js';
import { byTime, dateTime, milliseconds, type Time } from '../clock.js';
import { resembles, type Session, type Side, version } from '../contract.js';
import { type Json, JsonNumber, JsonObject, NotJson, parse } from '../json.js';
import { kindOf, member, objectMember, stringMember } from '../members.js';
import { Rejection } from '../rejection.js';
import { blocks, carried } from '../sse.js';

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const BEFORE_ALL: Time = -(10n ** 60n);

/** Says how many bodies are missing, in `notes`. */
export function readHar(bytes: Uint8Array, session: Session, notes: string[]): void {
  const exchanges: { entry: JsonObject; place: string; time: Time; dated: boolean }[] = [];
  let time = BEFORE_ALL;
  for (const [at, entry] of entriesOf(document(bytes)).entries()) {
    const place = `/log/entries/${at}`;
    if (!(entry instanceof JsonObject)) throw new Rejection('invalid-entry', place, `it is ${kindOf(entry)}, and an object is due`);
    const started = stringMember(entry, 'startedDateTime', place);
    const moment = started === undefined ? time : dateTime(started);
    if (moment === undefined) throw new Rejection('wrong-type', `${place}/startedDateTime`, 'it is no date and time');
    time = moment;
    exchanges.push({ entry, place, time, dated: started !== undefined });
  }
  let missing = 0;
  const said: Said[] = [];
  for (const { entry, place, time, dated } of exchanges.sort(byTime)) {
    const exchange = new Exchange(time, dated ? times(entry) : [], said, session);
    missing += readRequest(entry, place, exchange) + readResponse(entry, place, exchange);
  }
  for (const { say } of said.sort(byTime)) say(session);
  if (missing > 0) notes.push(`${missing} of the bodies are missing from the file; whatever they held is not read`);
}

interface Said {
  say: (session: Session) => void;
  time: Time;
}

/** When each block of the answer came, counted from the start; nothing where the file does not say. */
function times(entry: JsonObject): Time[] {
  const listed = entry.get('_events');
  if (!Array.isArray(listed)) return [];
  let last: Time = 0n;
  return listed.map((item) => {
    const written = item instanceof JsonObject ? item.get('time') : undefined;
    const time = written instanceof JsonNumber ? milliseconds(written) : undefined;
    // Nothing on a stream overtakes what stands before it.
    if (time !== undefined && time > last) last = time;
    return last;
  });
}

/** Takes what one exchange says, each message with its time: a block that has none comes with the one before it. */
class Exchange {
  private now: Time;
  private blocks = 0;

  constructor(
    private readonly started: Time,
    private readonly times: Time[],
    private readonly said: Said[],
    private readonly session: Session,
  ) {
    this.now = started;
  }

  nextBlock(): void {
    const time = this.times[this.blocks++];
    if (time !== undefined) this.now = this.started + time;
  }

  add(...what: Parameters<Session['add']>): void {
    this.said.push({ say: (session) => session.add(...what), time: this.now });
  }

  named(found: Json | undefined): void {
    this.said.push({ say: (session) => session.named(found), time: this.now });
  }

  challenged(...found: Parameters<Session['challenged']>): void {
    this.session.challenged(...found);
  }
}

function entriesOf(file: Json): Json[] {
  if (!(file instanceof JsonObject)) throw new Rejection('wrong-document', '', `a HAR is an object, and the file is ${kindOf(file)}`);
  const log = member(file, 'log', '');
  const entries = log instanceof JsonObject ? member(log, 'entries', '/log') : undefined;
  if (!Array.isArray(entries)) throw new Rejection('missing-entries', '/log/entries', 'there is no array of exchanges');
  return entries;
}

/** What the client sent. Gives the number of missing bodies, 0 or 1, as `readResponse` does. */
function readRequest(entry: JsonObject, place: string, session: Exchange): number {
  const here = `${place}/request`;
  const request = objectMember(entry, 'request', place);
  if (request === undefined) return 0;
  const headers = member(request, 'headers', here);
  if (Array.isArray(headers)) session.named(version(pairs(headers, `${here}/headers`)));
  const data = objectMember(request, 'postData', here);
  if (stringMember(request, 'method', here) !== 'POST') return 0;
  const body = data && text(data, `${here}/postData`);
  if (body === undefined) return isPositive(member(request, 'bodySize', here)) ? 1 : 0;
  readBody(body, `${here}/postData/text`, 'client', session, isTurnedAway(objectMember(entry, 'response', place), place));
  return 0;
}

function readResponse(entry: JsonObject, place: string, session: Exchange): number {
  const here = `${place}/response`;
  const response = objectMember(entry, 'response', place);
  if (response === undefined) return 0;
  const listed = member(response, 'headers', here);
  const headers = Array.isArray(listed) ? [...pairs(listed, `${here}/headers`)] : [];
  session.challenged(discovery(member(response, 'status', here), headers));
  const content = objectMember(response, 'content', here);
  if (content === undefined) return 0;
  const type = mediaType(stringMember(content, 'mimeType', `${here}/content`) || header('content-type', headers));
  if (type !== 'application/json' && type !== 'text/event-stream') {
    // Looked at all the same: a text that is no string is damage, whatever the type says.
    stringMember(content, 'text', `${here}/content`);
    return 0;
  }
  const body = text(content, `${here}/content`);
  const at = `${here}/content/text`;
  if (body === undefined) return isPositive(member(content, 'size', `${here}/content`)) ? 1 : 0;
  if (type === 'application/json') {
    session.nextBlock();
    readBody(body, at, 'server', session);
    return 0;
  }
  for (const event of blocks(body)) {
    session.nextBlock();
    const found = event && carried(event.name, event.data, at);
    if (found !== null && found !== undefined) session.add(found, at, 'server');
  }
  return 0;
}

/** A token is wanted, or another address: the server of the session saw nothing yet. */
function isTurnedAway(response: JsonObject | undefined, place: string): boolean {
  const status = response && member(response, 'status', `${place}/response`);
  return status instanceof JsonNumber && [301, 302, 303, 307, 308, 401].includes(Number(status.text));
}

/** `application/json` and its like, without the parameters. */
function mediaType(written: string): string {
  return (written.split(';', 1)[0] ?? '').trim().toLowerCase();
}

function header(wanted: string, headers: [string, Json][]): string {
  const value = headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
  return typeof value === 'string' ? value : '';
}

/** A body that is one JSON text. Only an object with `jsonrpc` is ours. */
function readBody(body: string, place: string, from: Side, session: Exchange, turnedAway = false): void {
  let value: Json;
  try {
    value = parse(withoutMark(body));
  } catch (error) {
    if (error instanceof NotJson) return;
    throw error;
  }
  const ours = (one: Json) => resembles(one) && one.has('jsonrpc');
  if (Array.isArray(value) ? value.some(ours) : ours(value)) session.add(value, place, from, turnedAway);
}

/** The text of a body, decoded; `undefined` where the exporter left it out. */
function text(body: JsonObject, place: string): string | undefined {
  const [written, encoding] = [stringMember(body, 'text', place), stringMember(body, 'encoding', place)];
  if (written === undefined || encoding?.toLowerCase() !== 'base64') return written;
  const compact = written.replace(/[\r\n]/g, '');
  if (!BASE64.test(compact) || compact.length % 4 === 1) throw new Rejection('wrong-type', `${place}/text`, 'it is no base64');
  return utf8(Buffer.from(compact, 'base64'), `${place}/text`);
}

function* pairs(headers: Json[], place: string): Generator<[string, Json]> {
  for (const [at, header] of headers.entries()) {
    if (!(header instanceof JsonObject)) continue;
    const [name, value] = [member(header, 'name', `${place}/${at}`), member(header, 'value', `${place}/${at}`)];
    if (typeof name === 'string' && value !== undefined) yield [name, value];
  }
}

function isPositive(size: Json | undefined): boolean {
  return size instanceof JsonNumber && Number(size.text) > 0;
}
