/** The two programs, as processes. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const folder = mkdtempSync(join(tmpdir(), 'concord-node-'));
after(() => rmSync(folder, { recursive: true }));

const CALL = '{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"t\u2028"}}';
const ANSWER = '{"jsonrpc":"2.0","id":"9007199254740993","result":"\\ud83d"}';
const MEANING =
  '{"events":[{"kind":"tool_call","id":"9007199254740993","tool":"t\u2028"},' +
  '{"kind":"result","id":"9007199254740993","answers":0,"result":"\\ud83d"}],"authorization_discovery":null}';

function file(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

function run(program: string, command: string[], input = ''): { status: number | null; stdout: string; stderr: string } {
  const path = fileURLToPath(new URL(program, import.meta.url));
  return spawnSync(process.execPath, [path, ...command], { input, encoding: 'utf8', timeout: 60_000, maxBuffer: 1 << 28 });
}

const talk = (...requests: unknown[]) => run('adapter.js', [], requests.map((one) => `${JSON.stringify(one)}\n`).join(''));

test('a conversation', () => {
  const good = file('good \u2028.jsonl', `${CALL}\n${ANSWER}\n`);
  const bad = file('bad.jsonl', '[]\n');
  const { status, stdout, stderr } = talk(
    { cmd: 'start', protocol: 1 },
    { cmd: 'read', seq: 1, format: 'jsonrpc', path: good },
    { cmd: 'read', seq: 2, format: 'jsonrpc', path: bad },
    { cmd: 'read', seq: 3, format: 'pcap', path: bad },
    { cmd: 'read', seq: 4, format: 'sse-legacy', path: bad },
    { cmd: 'stop' },
    { cmd: 'read', seq: 5, format: 'jsonrpc', path: good },
  );
  assert.deepEqual([status, stderr], [0, '']);
  const [hello = '', ...answers] = stdout.trimEnd().split('\n');
  assert.deepEqual(JSON.parse(hello).formats, ['jsonrpc', 'streamable-http', 'http-sse', 'mcp-replay', 'inspector', 'har']);
  assert.deepEqual([JSON.parse(hello).protocol, JSON.parse(hello).level], [1, 'events']);
  assert.deepEqual(answers, [
    `{"seq":1,"meaning":${MEANING}}`,
    '{"seq":2,"rejection":{"message":"line 1: an array stands where one message belongs","code":"batch"}}',
    '{"seq":3,"unsupported":"there is no reader for the format pcap"}',
    '{"seq":4,"rejection":{"message":"an envelope is an object, and the file is an array","code":"wrong-document"}}',
  ]);
});

test('the handshake names the dialect', () => {
  const start = '{"cmd":"start","protocol":1}\n';
  const named = (command: string[]) => JSON.parse(run('adapter.js', command, start).stdout).dialect;
  assert.deepEqual([named([]), named(['--dialect', 'typed-ids'])], ['default', 'typed-ids']);
  const twice = file('twice.jsonl', `${CALL}\n${CALL.replace('9007199254740993', '"9007199254740993"')}\n`);
  assert.deepEqual([[], ['--dialect', 'typed-ids']].map((option) => run('adapter.js', [...option, 'read', twice, 'jsonrpc']).status), [65, 0]);
  const unknown = run('adapter.js', ['--dialect', 'mine', 'read', twice, 'jsonrpc']);
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /there is no dialect "mine"; there are default, typed-ids/);
});

test('the end of the input ends the conversation', () => {
  assert.equal(talk({ cmd: 'start', protocol: 1 }).status, 0);
  assert.equal(talk().status, 0);
});

test('another protocol, another command and no request at all are misuse', () => {
  for (const request of [{ cmd: 'start', protocol: 2 }, { cmd: 'go' }, { cmd: 'read', seq: 1 }, 7]) {
    const { status, stderr } = talk(request);
    assert.equal(status, 2, JSON.stringify(request));
    assert.notEqual(stderr, '');
  }
});

test('a file that cannot be opened is a crash and no rejection', () => {
  const { status, stdout } = talk({ cmd: 'start', protocol: 1 }, { cmd: 'read', seq: 1, format: 'jsonrpc', path: join(folder, 'none') });
  assert.ok(status !== 0 && status !== 65);
  assert.equal(stdout.trimEnd().split('\n').length, 1);
});

test('an answer may be long', () => {
  const long = file('long.jsonl', `{"jsonrpc":"2.0","method":"m","params":"${'x'.repeat(1 << 24)}"}\n`);
  const { status, stdout } = talk({ cmd: 'read', seq: 1, format: 'jsonrpc', path: long }, { cmd: 'stop' });
  assert.equal(status, 0);
  assert.ok(stdout.length > 1 << 24 && stdout.endsWith('"authorization_discovery":null}}\n'));
});

test('one answer', () => {
  const good = file('one.jsonl', `${CALL}\n${ANSWER}\n`);
  assert.deepEqual({ ...run('adapter.js', ['read', good, 'jsonrpc']) }.stdout, `{"meaning":${MEANING}}\n`);
  const rejected = run('adapter.js', ['read', good, 'har']);
  assert.equal(rejected.status, 65);
  assert.equal(JSON.parse(rejected.stdout).rejection.code, 'invalid-json');
  assert.deepEqual(run('adapter.js', ['read', good]).status, 2);
  const har = file('missing.har', '{"log":{"entries":[{"response":{"content":{"size":5,"mimeType":"application/json"}}}]}}');
  const missing = run('adapter.js', ['read', har, 'har']);
  assert.equal(missing.status, 0);
  assert.match(missing.stderr, /^1 of the bodies/);
});

test('cases that are wrong on purpose are complained about', () => {
  const write = (name: string, toml: string, files: Record<string, string>) => {
    file(`${name}/topic/case/case.toml`, toml);
    for (const [each, text] of Object.entries(files)) file(`${name}/topic/case/${each}`, text);
    return run('check_cases.js', [join(folder, name)]);
  };
  const session = `${CALL}\n${ANSWER}\n`;
  const right = write('right', 'expect = "meaning"\n', { 'jsonrpc.jsonl': session, 'meaning.json': MEANING });
  assert.deepEqual([right.status, right.stdout], [0, '1 cases, 1 transcripts, 0 disagreements\n']);
  const wrong = write('wrong', 'expect = "meaning"\n', { 'jsonrpc.jsonl': session, 'meaning.json': MEANING.replace('"answers":0', '"answers":null') });
  assert.equal(wrong.status, 1);
  assert.match(wrong.stdout, /^topic.case: jsonrpc: event 1: expected .*"answers":null/);
  assert.equal(write('code', 'expect = "rejection"\nreject = "batch"\n', { 'jsonrpc.jsonl': 'x\n' }).status, 1);
  assert.equal(write('reads', 'expect = "rejection"\nreject = "batch"\n', { 'jsonrpc.jsonl': session }).status, 1);
  assert.equal(write('rejects', 'expect = "meaning"\n', { 'jsonrpc.jsonl': 'x\n', 'meaning.json': MEANING }).status, 1);
  const apart = write('apart', 'expect = "either"\n', { 'jsonrpc.jsonl': session, 'inspector.json': '[]' });
  assert.match(apart.stdout, /inspector: event 0/);
  assert.equal(write('redacted', 'expect = "meaning"\nredacted = "[X]"\n', { 'jsonrpc.jsonl': session.replace('\\ud83d', '[X]'), 'meaning.json': MEANING }).status, 0);
  assert.notEqual(write('nothing', 'expect = "meaning"\n', { 'meaning.json': MEANING }).status, 0);
  assert.notEqual(write('unknown', 'expect = "maybe"\n', { 'jsonrpc.jsonl': session }).status, 0);
  assert.equal(run('check_cases.js', [folder + '/right/topic/case/..']).status, 0);
  mkdirSync(join(folder, 'empty'));
  assert.equal(run('check_cases.js', [join(folder, 'empty')]).status, 2);
});
