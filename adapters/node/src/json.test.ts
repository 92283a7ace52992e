import assert from 'node:assert/strict';
import { test } from 'node:test';
import { equal } from './comparing.js';
import { JsonNumber, JsonObject, NotJson, parse, write } from './json.js';

test('what is written is what was read', () => {
  for (const text of [
    '9007199254740993',
    '-0',
    '1.0',
    '1e400',
    '1E+05',
    '{"b":1,"a":2,"b":3}',
    '{"__proto__":{"toString":1},"constructor":null}',
    '["\\ud83d","\\u0000","\\u001f","é","","\u2028"]',
    '[[],{},[{}],{"":[]}]',
    '[true,false,null]',
  ]) {
    assert.equal(write(parse(text)), text);
  }
});

test('escapes are spelling', () => {
  assert.equal(parse('"\\u0041\\/\\\\\\"\\b\\f\\n\\r\\t\\ud83d\\ude00"'), 'A/\\"\b\f\n\r\t😀');
});

test('white space is four characters', () => {
  assert.deepEqual(parse(' \t\r\n[ ]\n'), []);
  for (const space of ['\u00a0', '\u2028', '\ufeff', '\v', '\f']) assert.throws(() => parse(`${space}[]`), NotJson);
});

test('what is no JSON', () => {
  for (const text of [
    '01', '+1', '.5', '1.', '1.e1', '0x1', 'NaN', 'Infinity', 'True', 'nul', '[1,]', '{"a":1,}', '{,}', '{"a"}', '{a:1}', "'a'",
    '"\t"', '"\\x"', '"\\u12"', '[1 2]', '[1}', '{"a":1]', '{"a" 1}', '1 2', '[]]', '/**/1', '1\0', '-', '--1', '1e', '"\\u00g0"',
  ]) {
    assert.throws(() => parse(text), NotJson, text);
  }
});

test('text that ends too early is told from text that is wrong', () => {
  const whole = '{"a":[true,"\\u0041",-1.5e3,{"b":null}]}';
  for (let end = 0; end < whole.length; end += 1) {
    assert.throws(() => parse(whole.slice(0, end)), (error) => error instanceof NotJson && error.cut, whole.slice(0, end));
  }
  assert.throws(() => parse('{"a":}'), (error) => error instanceof NotJson && !error.cut && error.at === 5);
});

test('numbers are equal by their decimal', () => {
  const equals = (a: string, b: string) => equal(parse(a), parse(b));
  for (const same of ['1', '1.0', '1e0', '10e-1', '0.1E1', '100e-00002']) assert.ok(equals('1', same), same);
  for (const zero of ['-0', '0.000', '0e999999999999']) assert.ok(equals('0', zero), zero);
  assert.ok(equals('1e400', '10e399'));
  assert.ok(!equals('9007199254740993', '9007199254740992'));
  assert.ok(!equals('1', '-1'));
  assert.ok(!equals('1', '"1"'));
  assert.ok(!equals('1e400', '1e401'));
  assert.ok(!equals('0', 'null'));
});

test('objects are equal in any order, arrays in theirs', () => {
  const equals = (a: string, b: string) => equal(parse(a), parse(b));
  assert.ok(equals('{"a":1,"b":[2,{}]}', '{"b":[2.0,{}],"a":1}'));
  assert.ok(!equals('[1,2]', '[2,1]'));
  assert.ok(!equals('{"a":null}', '{}'));
  assert.ok(!equals('{"a":1,"a":2}', '{"a":2,"a":1}'));
  assert.ok(!equals('{}', '[]'));
  assert.ok(!equals('"\\u00e9"', '"e\\u0301"'));
  assert.ok(!equals('[1]', '[1,1]'));
});

test('a difference may be forgiven where it stands', () => {
  const [a, b] = [parse('{"a":"x","b":1}'), parse('{"a":[],"b":1}')];
  assert.ok(equal(a, b, (one) => one === 'x'));
  assert.ok(!equal(a, b, (one) => one === 'y'));
});

test('depth is no matter', () => {
  const deep = `${'[{"a":'.repeat(100_000)}1${'}]'.repeat(100_000)}`;
  assert.equal(write(parse(deep)), deep);
  assert.ok(equal(parse(deep), parse(deep)));
  assert.ok(!equal(parse(deep), parse(deep.replace('1', '2'))));
});

test('a member that stands twice is there twice', () => {
  const object = parse('{"a":1,"b":2,"a":3}');
  assert.ok(object instanceof JsonObject);
  assert.ok(object.isTwice('a') && !object.isTwice('b') && !object.isTwice('c'));
  const first = object.get('a');
  assert.ok(first instanceof JsonNumber && first.text === '1');
  assert.equal(object.get('c'), undefined);
});
