/** What the reader makes of transcripts. Each expectation follows from the clauses in the name of its test. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meaningJson } from './contract.js';
import { write } from './json.js';
import { read } from './reader.js';
import { Rejection } from './rejection.js';

const META = '{"v":1,"type":"meta","startedAt":"2026-09-01T10:00:00Z","label":"x","command":["x"]}';
const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":1.0}}}';
const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{}}';
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

const lines = (...messages: string[]) => messages.map((message) => `${message}\n`).join('');
const replay = (...of: string[]) => lines(META, ...of);
const line = (dir: string, raw: string) => `{"t":"x","dir":"${dir}","raw":${raw}}`;
const envelope = (...entries: string[]) => `{"transport":"http-sse","entries":[${entries.join(',')}]}`;
const data = (value: unknown) => `{"sse":{"event":"message","data":${JSON.stringify(value)}}}`;

interface Exchange {
  post?: string;
  type?: string;
  answer?: string;
  encoding?: string;
  at?: string;
  size?: number;
}
const har = (...exchanges: Exchange[]) =>
  JSON.stringify({
    log: {
      entries: exchanges.map(({ post, type = 'application/json', answer, encoding, at = '2026-09-01T10:00:00Z', size = 0 }) => ({
        startedDateTime: at,
        request: post === undefined ? { method: 'GET' } : { method: 'POST', postData: { text: post } },
        response: { status: 200, headers: [], content: { size, mimeType: type, text: answer, encoding } },
      })),
    },
  });

/** Events in short: `t(1)`, `ping(1)`, `→0` for what answers the first, `→-` for an orphan. */
function short(text: string | Buffer, format = 'jsonrpc'): string {
  const parts = read(Buffer.from(text), format).events.map((event) => {
    const id = event.id === undefined ? '' : `(${event.id})`;
    if (event.kind === 'tool_call') return `${typeof event.tool === 'string' ? event.tool : '?'}${id}`;
    if ('content' in event) return `→${event.answers ?? '-'}`;
    return `${event.method}${id}`;
  });
  return parts.join(' ');
}

function rejects(code: string, text: string | Buffer, format = 'jsonrpc'): void {
  assert.throws(() => read(Buffer.from(text), format), (error) => {
    assert.ok(error instanceof Rejection, String(error));
    assert.equal(error.code, code, error.message);
    return true;
  });
}

test('a meaning is written whole: numbers, absent and null members, orphans', () => {
  const text = lines(CALL, ANSWER, '{"jsonrpc":"2.0","method":"n","params":null}', '{"jsonrpc":"2.0","id":null,"error":{"code":1e400}}');
  assert.equal(
    write(meaningJson(read(Buffer.from(text), 'jsonrpc'))),
    '{"events":[{"kind":"tool_call","id":"1","tool":"t","arguments":{"a":1.0}},' +
      '{"kind":"result","id":"1","answers":0,"result":{}},{"kind":"notification","method":"n","params":null},' +
      '{"kind":"error","answers":null,"error":{"code":1e400}}],"authorization_discovery":null}',
  );
});

test('ids: strings and numbers as text, null none, anything else a fault (ID-*)', () => {
  const request = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"m"}`;
  const answer = (id: string) => `{"jsonrpc":"2.0","id":${id},"result":1}`;
  assert.equal(short(lines(request('1'), answer('"1"'))), 'm(1) →0');
  assert.equal(short(lines(request('9007199254740993'), answer('9007199254740992'))), 'm(9007199254740993) →-');
  assert.equal(short(lines(request('1.0'), answer('1.0'))), 'm(1.0) →0');
  assert.equal(short(lines(request('""'), answer('""'))), 'm() →0');
  assert.equal(short(lines(request('null'), answer('null'), answer('"null"'))), 'm →- →-');
  assert.equal(short(lines(request('"null"'), answer('null'), answer('"null"'))), 'm(null) →- →0');
  assert.equal(short(lines(request('"__proto__"'), answer('"__proto__"'))), 'm(__proto__) →0');
  for (const id of ['true', 'false', '{}', '[]', '[1]']) {
    rejects('invalid-id', lines(request(id)));
    rejects('invalid-id', lines(answer(id)));
  }
});

test('answers bind to the oldest open request before them (COR-FIRST, COR-LATE, COR-BEFORE, COR-ANY)', () => {
  assert.equal(short(lines(PING, PING, ANSWER, ANSWER, ANSWER)), 'ping(1) ping(1) →0 →1 →-');
  assert.equal(short(lines(PING, ANSWER, PING, ANSWER)), 'ping(1) →0 ping(1) →2');
  assert.equal(short(lines(ANSWER, PING)), '→- ping(1)');
});

test('two tool calls of one id are a fault (COR-DUPLICATE)', () => {
  rejects('duplicate-call-id', lines(CALL, CALL));
  rejects('duplicate-call-id', lines(CALL, ANSWER, CALL.replace('"id":1', '"id":"1"')));
  rejects('duplicate-call-id', replay(line('in', CALL), line('out', CALL)), 'mcp-replay');
  assert.equal(short(lines(CALL, ANSWER, PING, ANSWER)), 't(1) →0 ping(1) →2');
});

test('each side has its own ids (COR-DIRECTION)', () => {
  assert.equal(
    short(replay(line('in', CALL), line('out', PING), line('in', ANSWER), line('out', ANSWER)), 'mcp-replay'),
    't(1) ping(1) →1 →0',
  );
  assert.equal(
    short(envelope(`{"request":${CALL}}`, `{"sse":{"data":${PING}}}`, `{"request":${ANSWER}}`, `{"response":${ANSWER}}`), 'http-sse'),
    't(1) ping(1) →1 →0',
  );
  assert.equal(short(replay(line('in', CALL), line('in', ANSWER)), 'mcp-replay'), 't(1) →-');
});

test('what is no message, and what is a broken one (JRP-*)', () => {
  for (const text of ['[]', '[{}]']) rejects('batch', lines(text));
  for (const text of ['1', '"x"', 'null', '{}', '{"id":1}', '{"jsonrpc":"2.0","id":1}']) rejects('not-a-message', lines(text));
  for (const version of ['2.0', '"2"', '"2.00"', 'null', '"1.0"']) {
    rejects('invalid-version', lines(`{"jsonrpc":${version},"method":"m"}`));
  }
  rejects('invalid-version', lines('{"method":"m"}'));
  for (const method of ['null', '1', '[]', '{}', 'true']) rejects('invalid-method', lines(`{"jsonrpc":"2.0","method":${method}}`));
  rejects('ambiguous-message', lines('{"jsonrpc":"2.0","id":1,"result":1,"error":{}}'));
  rejects('ambiguous-message', lines('{"jsonrpc":"2.0","id":1,"result":1,"error":null}'));
  rejects('ambiguous-message', lines('{"jsonrpc":"2.0","id":1,"method":"m","result":1}'));
});

test('a member twice is a fault where it decides, and kept where it does not (SRV-TWICE)', () => {
  rejects('ambiguous-member', lines('{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}'));
  rejects('ambiguous-member', lines('{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a","name":"b"}}'));
  rejects('ambiguous-member', '{"transport":"http-sse","entries":[],"entries":[]}', 'http-sse');
  const kept = '{"jsonrpc":"2.0","method":"m","params":{"name":1,"name":2}}';
  assert.match(write(meaningJson(read(Buffer.from(lines(kept)), 'jsonrpc'))), /\{"name":1,"name":2\}/);
});

test('a tool call without a name in text is kept as it is (TOOL-NAMELESS)', () => {
  for (const params of ['', ',"params":{}', ',"params":[]', ',"params":null', ',"params":{"name":7}']) {
    assert.equal(short(lines(`{"jsonrpc":"2.0","id":1,"method":"tools/call"${params}}`)), '?(1)');
  }
});

test('lines end with LF; blank ones are passed over (JRP-LINE)', () => {
  assert.equal(short(`\ufeff\n \t\r\n${CALL}\r\n\n${ANSWER}`), 't(1) →0');
  assert.equal(short(lines(`{"jsonrpc":"2.0","method":"a\u2028b"}`)), 'a\u2028b');
  assert.equal(short(''), '');
  rejects('invalid-json', `${CALL}\r${ANSWER}\n`);
  rejects('invalid-json', lines('hello', CALL));
  rejects('invalid-json', lines(CALL.slice(0, -1), ANSWER));
  rejects('invalid-json', lines(PING, `\ufeff${PING}`));
  rejects('truncated', CALL.slice(0, -1));
  rejects('invalid-utf8', Buffer.from([0x7b, 0xff, 0x7d, 0x0a]));
  assert.throws(() => read(Buffer.from(lines(PING, '', 'x')), 'jsonrpc'), /^Error: line 3, column 1: /);
});

test('documents that are none (SRV-BYTES)', () => {
  for (const format of ['http-sse', 'streamable-http', 'inspector', 'har']) {
    for (const text of ['', ' \n', '{', '[1', '{"a":"']) rejects('truncated', text, format);
    for (const text of ['{}x', '{"a":}', '\0', '{} {}']) rejects('invalid-json', text, format);
    rejects('invalid-utf8', Buffer.from([0x22, 0xc3, 0x28, 0x22]), format);
    rejects('wrong-document', '"x"', format);
  }
  assert.throws(() => read(Buffer.from('{\n "a": x}'), 'har'), /line 2, column 7/);
});

test('envelopes (ENV-*)', () => {
  rejects('wrong-transport', '{"entries":[]}', 'http-sse');
  rejects('wrong-transport', '{"transport":"sse-legacy","entries":[]}', 'http-sse');
  rejects('wrong-transport', envelope(), 'streamable-http');
  rejects('missing-entries', '{"transport":"http-sse"}', 'http-sse');
  rejects('missing-entries', '{"transport":"http-sse","entries":{}}', 'http-sse');
  for (const entry of ['1', 'null', '[]', '{}', `{"request":${PING},"response":${ANSWER}}`, `{"request":null,"sse":{}}`]) {
    rejects('invalid-entry', envelope(entry), 'http-sse');
  }
  rejects('batch', envelope(`{"request":[${PING}]}`), 'http-sse');
  rejects('not-a-message', envelope('{"response":"pong"}'), 'http-sse');
  rejects('wrong-type', envelope('{"sse":"x"}'), 'http-sse');
  rejects('wrong-type', envelope('{"sse":{"event":7}}'), 'http-sse');
  assert.equal(short(envelope('{"request":null}', '{"response":null}', '{"sse":null}', '{"sse":{"id":"1"}}'), 'http-sse'), '');
  assert.equal(short(envelope(`{"request":${PING},"timestamp_ms":"x","y":1}`), 'sse-legacy'), 'ping(1)');
});

test('an error body is no message, and a message under an error status is one (ENV-NULL)', () => {
  const under = (status: number, body: string) => envelope(`{"transport_context":{"status":${status}},"response":${body}}`);
  assert.equal(short(under(401, '{"error":"invalid_token"}'), 'http-sse'), '');
  assert.equal(short(under(500, '{"title":"x"}'), 'http-sse'), '');
  assert.equal(short(under(400, '{"jsonrpc":"2.0","id":1,"error":{}}'), 'http-sse'), '→-');
  rejects('invalid-version', under(400, '{"error":{"code":1}}'), 'http-sse');
  rejects('invalid-version', under(200, '{"error":"x"}'), 'http-sse');
});

test('data of events (SSE-*)', () => {
  const sse = (...entries: string[]) => short(envelope(...entries), 'http-sse');
  assert.equal(sse(data(JSON.parse(PING)), data(PING), data(` ${PING}\n`)), 'ping(1) ping(1) ping(1)');
  assert.equal(sse(...['ping', '', '/messages?x={}', '42', 'null', '[1]', '[DONE]', '"x"'].map(data)), '');
  assert.equal(sse(...[{}, { type: 'ping' }, 42, null, true, []].map(data)), '');
  assert.equal(sse(`{"sse":{"data":${PING}}}`, `{"sse":{"event":"","data":${PING}}}`, `{"sse":{"event":"endpoint","data":${PING}}}`), 'ping(1) ping(1)');
  rejects('broken-data', envelope(data(' {"jsonrpc"')), 'http-sse');
  rejects('batch', envelope(data(`[${PING}]`)), 'http-sse');
  rejects('batch', envelope(data([JSON.parse(PING)])), 'http-sse');
  rejects('nested-data', envelope(data(JSON.stringify(PING))), 'http-sse');
});

test('mcp-replay (RPL-*)', () => {
  const read = (...of: string[]) => short(replay(...of), 'mcp-replay');
  assert.equal(read(line('in', CALL), '{"type":"turn"}', line('event', ANSWER), line('out', ANSWER), '{"type":"end"}'), 't(1) →0');
  for (const text of ['', lines(line('in', CALL)), lines(META.replace('"label":"x",', '')), lines('{"type":"meta"}')]) {
    rejects('missing-meta', text, 'mcp-replay');
  }
  for (const v of ['2', '1.5', '"1"', 'null']) rejects('unsupported-version', lines(META.replace('"v":1', `"v":${v}`)), 'mcp-replay');
  rejects('second-meta', replay(META), 'mcp-replay');
  rejects('missing-raw', replay('{"dir":"in"}'), 'mcp-replay');
  rejects('missing-dir', replay(`{"raw":${PING}}`), 'mcp-replay');
  assert.equal(read('{"type":"checkpoint","raw":{"a":1}}', '{"note":"x"}'), '');
  rejects('after-end', replay('{"type":"end"}', line('in', PING)), 'mcp-replay');
  rejects('not-a-message', replay('[]'), 'mcp-replay');
  for (const noise of ['42', 'null', '"x"', '{"a":1}']) rejects('not-a-message', replay(line('out', noise)), 'mcp-replay');
  rejects('batch', replay(line('out', '[]')), 'mcp-replay');
});

test('the Inspector (INS-*)', () => {
  const entry = (at: unknown, origin: string, message: string, more = '') =>
    `{"timestamp":${JSON.stringify(at)},"origin":"${origin}","message":${message}${more}}`;
  const note = '{"jsonrpc":"2.0","method":"n"}';
  assert.equal(short(`[${PING},${ANSWER}]`, 'inspector'), 'ping(1) →0');
  assert.equal(short(`{"events":[${PING},${ANSWER}]}`, 'inspector'), 'ping(1) →0');
  const folded = `,"response":${ANSWER},"duration":49.7`;
  assert.equal(short(`[${entry(50, 'server', note)},${entry(0, 'client', PING, folded)}]`, 'inspector'), 'ping(1) →0 n');
  assert.equal(short(`[${entry(49, 'server', note)},${entry(0, 'client', PING, folded)}]`, 'inspector'), 'ping(1) n →0');
  const crossing = [entry(1, 'client', CALL), entry(2, 'server', PING), entry(3, 'client', ANSWER), entry(4, 'server', ANSWER)];
  assert.equal(short(`[${crossing.join(',')}]`, 'inspector'), 't(1) ping(1) →1 →0');
  for (const document of ['{}', 'null', '1', '{"events":{}}', PING]) rejects('wrong-document', document, 'inspector');
  rejects('wrong-type', `[${entry('yesterday', 'client', PING)}]`, 'inspector');
  rejects('wrong-type', `[${entry(1, 'proxy', PING)}]`, 'inspector');
  rejects('batch', `[[${PING}]]`, 'inspector');
});

test('HAR (HAR-*)', () => {
  const stream = (answer: string): Exchange => ({ type: 'Text/Event-Stream; charset=utf-8', answer });
  assert.equal(short(har({ post: CALL, answer: ANSWER }), 'har'), 't(1) →0');
  assert.equal(
    short(har({ at: '2026-09-01T10:00:01Z', answer: ANSWER }, { at: '2026-09-01T12:00:00+02:00', post: CALL }), 'har'),
    't(1) →0',
  );
  assert.equal(short(har({ post: CALL, ...stream(`: x\r\ndata: ${ANSWER}\r\n\r\ndata: ${ANSWER}`) }), 'har'), 't(1) →0');
  const encoded = Buffer.from(`\ufeffdata: ${ANSWER}\n\n`).toString('base64');
  assert.equal(short(har({ post: CALL, ...stream(encoded), encoding: 'base64' }), 'har'), 't(1) →0');
  for (const answer of ['Accepted', '{"error":"x"}', '{"method":"m"}', '[1]', '{', '']) assert.equal(short(har({ answer }), 'har'), '');
  assert.equal(short(har({ answer: PING, type: 'text/plain' }), 'har'), '');
  const untyped = har({ answer: ANSWER }).replace('"mimeType":"application/json"', '"x":1');
  assert.equal(short(untyped.replace('"headers":[]', '"headers":[{"name":"Content-Type","value":"application/json"}]'), 'har'), '→-');
  assert.equal(short(untyped, 'har'), '');
  rejects('batch', har({ post: `[${PING}]` }), 'har');
  rejects('invalid-version', har({ answer: '{"jsonrpc":"1.0","id":1,"result":1}' }), 'har');
  rejects('broken-data', har(stream('data: {"jsonrpc"\n\n')), 'har');
  rejects('wrong-type', har({ answer: '{x}', encoding: 'base64' }), 'har');
  rejects('missing-entries', '{"log":{}}', 'har');
  rejects('missing-entries', '{}', 'har');
  rejects('invalid-entry', '{"log":{"entries":["x"]}}', 'har');
});

test('bodies that an exporter left out are counted (HAR-MISSING)', () => {
  assert.deepEqual(read(Buffer.from(har({ size: 5 }, { post: CALL, size: 9 }, {})), 'har').notes.map((note) => note.slice(0, 1)), ['2']);
  assert.deepEqual(read(Buffer.from(har({ post: CALL, answer: ANSWER, size: 3 }, {})), 'har').notes, []);
});

test('a 401 leaves a summary in the formats that show one (K2A-SUMMARY, HAR-K2A)', () => {
  const context = '"transport_context":{"status":401,"headers":{"WWW-Authenticate":"Bearer scope=a"}}';
  const seen = (text: string, format = 'http-sse') => read(Buffer.from(text), format).discovery?.scope_challenge_visible ?? null;
  assert.equal(seen(envelope(`{${context},"response":null}`)), true);
  assert.equal(seen(envelope(`{${context},"request":${PING}}`)), null);
  assert.equal(seen(envelope(`{${context},"sse":{}}`)), null);
  const response = { status: 401, headers: [{ name: 'www-authenticate', value: 'Bearer scope=a' }] };
  assert.equal(seen(JSON.stringify({ log: { entries: [{ request: { method: 'GET' }, response }] } }), 'har'), true);
});

const handshake = (version: string) =>
  lines(
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}',
    `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"${version}"}}`,
  );

test('a batch of 2025-03-26 is its messages (EQ-BATCH)', () => {
  const later = CALL.replace('"id":1', '"id":2');
  assert.equal(short(handshake('2025-03-26') + lines(`[${PING},${later}]`, `[${ANSWER.replace('"id":1', '"id":2')},${ANSWER}]`)), 'initialize(0) →0 ping(1) t(2) →3 →2');
  // What no revision is called decides nothing.
  assert.equal(short(handshake('2025-03-26') + handshake('2025-03-27') + lines(`[${PING}]`)), 'initialize(0) →0 initialize(0) →2 ping(1)');
  const [wish = '', agreed = ''] = handshake('2025-03-26').split('\n');
  for (const before of ['', `${wish}\n`, `${agreed}\n`, handshake('2025-06-18'), handshake('2025-03-26') + handshake('2025-06-18')]) {
    rejects('batch', before + lines(`[${PING}]`));
  }
  for (const [code, batch] of [
    ['batch', '[]'],
    ['batch', `[${PING},[${PING}]]`],
    ['not-a-message', `[${PING},7]`],
    ['invalid-id', `[${PING.replace('"id":1', '"id":[]')}]`],
    ['duplicate-call-id', `[${CALL},${CALL}]`],
  ] as const) {
    rejects(code, handshake('2025-03-26') + lines(batch));
  }
});

test('a header of a request shows the revision until a handshake does (EQ-BATCH)', () => {
  const sent = (version: string, body: string, slot = 'request') =>
    `{"transport_context":{"headers":{"mcp-protocol-version":"${version}"}},"${slot}":${body}}`;
  assert.equal(short(envelope(sent('2025-03-26', `[${PING}]`)), 'http-sse'), 'ping(1)');
  assert.equal(short(envelope(sent('x', PING), sent('2025-03-26', `[${CALL}]`)), 'http-sse'), 'ping(1) t(1)');
  rejects('batch', envelope(sent('2025-06-18', PING), sent('2025-03-26', `[${PING}]`)), 'http-sse');
  rejects('batch', envelope(sent('2025-03-26', ANSWER, 'response'), `{"request":[${PING}]}`), 'http-sse');
  const named = har({ post: `[${PING}]` }).replace('"method":"POST"', '"method":"POST","headers":[{"name":"MCP-Protocol-Version","value":"2025-03-26"}]');
  assert.equal(short(named, 'har'), 'ping(1)');
});

test('the dialect typed-ids reads ids as JSON-RPC has them', () => {
  const reading = (text: string) => read(Buffer.from(text), 'jsonrpc', 'typed-ids').events.map((event) => ('answers' in event ? event.answers : event.id));
  const code = (text: string) => {
    try {
      return reading(text);
    } catch (error) {
      assert.ok(error instanceof Rejection, String(error));
      return error.code;
    }
  };
  const text = (message: string) => message.replace('"id":1', '"id":"1"');
  assert.deepEqual(reading(lines(CALL, text(ANSWER), ANSWER)), ['1', null, 0]);
  assert.deepEqual(reading(lines(CALL, text(CALL), ANSWER, CALL)), ['1', '1', 0, '1']);
  assert.equal(code(lines(CALL, CALL)), 'duplicate-call-id');
  const [none, nothing] = [(message: string) => message.replace('"id":1,', ''), (message: string) => message.replace('"id":1', '"id":null')];
  for (const wrong of [none(CALL), nothing(CALL), none(ANSWER), nothing(ANSWER), nothing(PING)]) assert.equal(code(lines(wrong)), 'invalid-id', wrong);
  const failure = ANSWER.replace('result', 'error');
  for (const right of [none(PING), none(failure), nothing(failure)]) assert.equal(code(lines(right)).length, 1, right);
});

test('an unknown dialect is a fault of the caller', () => {
  assert.throws(() => read(Buffer.from(''), 'jsonrpc', 'mine'), RangeError);
});

test('an unknown format is a fault of the caller', () => {
  assert.throws(() => read(Buffer.from(''), 'pcap'), RangeError);
});
