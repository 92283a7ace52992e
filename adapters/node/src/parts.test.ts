/** The parts that know one text of somebody else's each: event streams, challenges, times. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { discovery, joined } from './challenge.js';
import { dateTime, milliseconds } from './clock.js';
import { JsonNumber } from './json.js';
import { events } from './sse.js';

const seen = (header: string): string => {
  const found = discovery(new JsonNumber('401'), [['www-AUTHENTICATE', header]]);
  return [found?.resource_metadata_visible ? 'metadata' : '', found?.scope_challenge_visible ? 'scope' : ''].join(' ').trim();
};

test('parameters of a challenge', () => {
  assert.equal(seen('Bearer resource_metadata="u", scope="s"'), 'metadata scope');
  assert.equal(seen('Bearer realm="x",scope=s'), 'scope');
  assert.equal(seen('Basic realm="x", Bearer Resource_Metadata = "u"'), 'metadata');
  assert.equal(seen('Negotiate YWJj==, Bearer\tSCOPE=""'), 'scope');
  assert.equal(seen('Bearer realm="a\\"b\\\\", , scope="s",'), 'scope');
  assert.equal(seen('Basic, Bearer scope="s"'), 'scope');
  assert.equal(seen('resource_metadata="u", Bearer scope="s"'), 'scope');
});

test('what only looks like a parameter', () => {
  for (const header of [
    'Bearer', '', ',', 'Scope realm="x"', 'scope', 'Negotiate scope==', 'Bearer realm="scope=s"', 'Bearer realm="a, scope=s"',
    'Bearer realm="a\\", scope=s, b=\\""', 'Bearer scopes="s", x-scope="s"', 'Bearer scope', 'Bearer scope=', 'Bearer realm="scope=s',
    'Bearer scope="s', 'Bearer scope="s"x', 'scope="s"', 'scope = "s", Bearer realm="x"',
  ]) {
    assert.equal(seen(header), '', header);
  }
});

test('only a 401 has a challenge, and only in its own header', () => {
  const header = [['WWW-Authenticate', 'Bearer scope="s"']] as const;
  assert.notEqual(discovery(new JsonNumber('401'), header), null);
  for (const status of [new JsonNumber('200'), new JsonNumber('403'), '401', null, undefined]) {
    assert.equal(discovery(status, header), null);
  }
  assert.equal(discovery(new JsonNumber('401'), [['X-Authenticate', 'Bearer scope="s"']]), null);
  assert.equal(discovery(new JsonNumber('401'), [['WWW-Authenticate', ['Bearer scope="s"']]]), null);
});

test('several challenges are one summary', () => {
  const of = (value: string) => discovery(new JsonNumber('401'), [['www-authenticate', value]]);
  const both = joined(of('A scope=a'), of('B resource_metadata=b'));
  assert.ok(both?.scope_challenge_visible && both.resource_metadata_visible && !both.authorization_servers_visible);
  assert.equal(joined(null, null), null);
  assert.deepEqual(joined(null, of('A scope=a')), of('A scope=a'));
});

test('a long challenge needs neither stack nor patience', () => {
  assert.equal(seen(`Bearer realm="${'\\x'.repeat(1 << 20)}", scope="s"`), 'scope');
  assert.equal(seen(`Bearer ${' '.repeat(1 << 20)}x`), '');
});

const stream = (text: string) => [...events(text)].map(({ name, data }) => `${name}|${data}`);

test('lines of a stream end with LF, CR or CRLF', () => {
  for (const end of ['\n', '\r', '\r\n']) {
    assert.deepEqual(stream(['event: a', 'data: 1', '', 'data: 2', '', ''].join(end)), ['a|1', '|2']);
  }
  assert.deepEqual(stream('data: 1\r\ndata: 2\r\rdata: 3\n\r\n'), ['|1\n2', '|3']);
});

test('fields of an event', () => {
  assert.deepEqual(stream('data:x\n\n'), ['|x']);
  assert.deepEqual(stream('data:  x\n\n'), ['| x']);
  assert.deepEqual(stream('data:\tx\n\n'), ['|\tx']);
  assert.deepEqual(stream('data\n\n'), ['|']);
  assert.deepEqual(stream(': data: x\n\n'), []);
  assert.deepEqual(stream('Data: x\nid: 1\nretry: 2\n\n'), []);
  assert.deepEqual(stream('data: a:b\u2028c\n\n'), ['|a:b\u2028c']);
  assert.deepEqual(stream('event: a\nevent: b\ndata: x\n\n'), ['b|x']);
});

test('an event without data leaves no name behind, and an unfinished one is none', () => {
  assert.deepEqual(stream('event: ping\n\ndata: x\n\n'), ['|x']);
  assert.deepEqual(stream('data: x\n\ndata: y\n'), ['|x']);
  assert.deepEqual(stream('data: x'), []);
});

test('one byte order mark is dropped', () => {
  assert.deepEqual(stream('\ufeffdata: x\n\n'), ['|x']);
  assert.deepEqual(stream('\ufeff\ufeffdata: x\n\n'), []);
});

test('moments', () => {
  const at = (text: string) => dateTime(text) ?? assert.fail(text);
  const number = (text: string) => milliseconds(new JsonNumber(text)) ?? assert.fail(text);
  assert.equal(at('1970-01-01T00:00:00Z'), 0n);
  assert.equal(at('2026-09-01T10:00:00.100Z'), number('1788256800100'));
  assert.equal(at('2026-09-01T12:00:00.1+02:00'), at('2026-09-01T10:00:00.100Z'));
  assert.equal(at('2026-09-01T04:30:00.1-0530'), at('2026-09-01T10:00:00.1Z'));
  assert.ok(at('2026-09-01T10:00:00.000001Z') > at('2026-09-01T10:00:00Z'));
  assert.ok(at('0099-12-31T23:59:60Z') < at('2000-01-01'.concat('T00:00:00Z')));
  assert.equal(number('49.7'), 49_700_000_000_000_000n);
  assert.equal(number('-1e-3'), -1_000_000_000_000n);
  assert.equal(number('1e-400'), 0n);
});

test('what is no moment', () => {
  for (const text of ['', 'yesterday', '2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z', '2026-01-01T25:00:00Z', '2026-01-01', '2026-01-01T00:60:00Z']) {
    assert.equal(dateTime(text), undefined, text);
  }
  assert.equal(milliseconds(new JsonNumber('1e400')), undefined);
});
