/**
 * Reads every transcript of every case, and says where this reader and a case part.
 *
 *     node check_cases.js DIR…        exit 0 when all agree, 1 when any does not, 2 when there is nothing to check
 *
 * Knows: what a case directory promises: a meaning, a rejection with its code, or one choice in all formats. Refuses to
 * know: TOML. The three keys it needs stand on a line each; whether a case file is sound, the loader of the suite says.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { document } from './bytes.js';
import { equal } from './comparing.js';
import { meaningJson } from './contract.js';
import { type Json, JsonObject, write } from './json.js';
import { FORMATS, read } from './reader.js';
import { Rejection } from './rejection.js';

interface Case {
  expect: string;
  reject: string | undefined;
  redacted: string | undefined;
  meaning: JsonObject | undefined;
}

type Found = JsonObject | Rejection;

/** The case in a folder; none where it is one of `check`'s or `identify`'s, about which no reader is asked. */
function caseAt(folder: string): Case | undefined {
  const head = readFileSync(join(folder, 'case.toml'), 'utf8').split(/^\[/m, 1)[0] ?? '';
  const key = (name: string) => new RegExp(`^${name}\\s*=\\s*"([^"\\\\]*)"`, 'm').exec(head)?.[1];
  const file = join(folder, 'meaning.json');
  const meaning = existsSync(file) ? document(readFileSync(file)) : undefined;
  const [expect, reject] = [key('expect') ?? '', key('reject')];
  if (['judgement', 'identification', 'unidentified'].includes(expect)) return undefined;
  if (!['meaning', 'rejection', 'either'].includes(expect)) throw new Error(`${folder}: it expects ${JSON.stringify(expect)}`);
  if (expect === 'rejection' ? reject === undefined : expect === 'meaning' && !(meaning instanceof JsonObject)) {
    throw new Error(`${folder}: it does not say which ${expect} it expects`);
  }
  return { expect, reject, redacted: key('redacted'), meaning: meaning instanceof JsonObject ? meaning : undefined };
}

/** The formats of a case that were read, each with what is wrong, if anything is; nothing for a case of `check`. */
function check(folder: string): [format: string, complaint: string | null][] | undefined {
  const expected = caseAt(folder);
  if (expected === undefined) return undefined;
  const readings: { format: string; found: Found }[] = [];
  const verdicts: [string, string | null][] = [];
  for (const [format, { file }] of FORMATS) {
    const path = join(folder, file);
    if (!existsSync(path)) continue;
    const found = readingOf(path, format);
    let complaint = misread(expected, format, found);
    if (expected.expect === 'either') {
      for (const earlier of readings) complaint ??= apart(earlier, { format, found }, expected.redacted);
    }
    readings.push({ format, found });
    verdicts.push([format, complaint]);
  }
  const others = readdirSync(folder).filter((name) => name !== 'case.toml' && !/^meaning\..*json$/.test(name));
  if (others.length === 0) throw new Error(`${folder}: it has no transcript`);
  return verdicts;
}

function readingOf(path: string, format: string): Found {
  try {
    return meaningJson(read(readFileSync(path), format));
  } catch (error) {
    if (error instanceof Rejection) return error;
    throw new Error(`${path}: the reader failed`, { cause: error });
  }
}

function misread(expected: Case, format: string, found: Found): string | null {
  if (found instanceof Rejection) {
    if (expected.expect === 'meaning') return `rejected (${found.code}), ${found.message}`;
    if (expected.expect === 'either' || found.code === expected.reject) return null;
    return `rejected as ${found.code}, expected ${expected.reject}: ${found.message}`;
  }
  if (expected.expect === 'rejection') return `read as ${write(found)}, expected a rejection (${expected.reject})`;
  return expected.meaning === undefined ? null : difference(withDiscovery(expected.meaning, format), found, expected.redacted);
}

type Reading = { format: string; found: Found };

function apart(first: Reading, second: Reading, marker: string | undefined): string | null {
  const [a, b] = [first.found, second.found];
  if (a instanceof Rejection || b instanceof Rejection) {
    if (a instanceof Rejection && b instanceof Rejection) return null;
    const [rejects, reads] = a instanceof Rejection ? [first, second] : [second, first];
    return `${rejects.format} rejects (${(rejects.found as Rejection).message}), and ${reads.format} reads`;
  }
  return difference(withDiscovery(a, second.format), withDiscovery(b, first.format), marker);
}

/** The meaning as far as a format can carry it. */
function withDiscovery(meaning: JsonObject, format: string): JsonObject {
  if (FORMATS.get(format)?.carriesDiscovery) return meaning;
  return JsonObject.of([['events', meaning.get('events') ?? null], ['authorization_discovery', null]]);
}

/** The first event that differs, or what differs beside the events. A string with the marker in it is any value. */
function difference(expected: JsonObject, found: JsonObject, marker: string | undefined): string | null {
  const hidden = (value: Json) => marker !== undefined && typeof value === 'string' && value.includes(marker);
  const same = (a: Json, b: Json) => equal(a, b, (one, other) => hidden(one) || hidden(other));
  if (same(expected, found)) return null;
  const [ours, theirs] = [found.get('events') as Json[], expected.get('events') as Json[]];
  for (let at = 0; at < Math.max(ours.length, theirs.length); at += 1) {
    const [mine, due] = [ours[at], theirs[at]];
    if (mine === undefined || due === undefined || !same(due, mine)) return `event ${at}: expected ${shown(due)}, read ${shown(mine)}`;
  }
  return `expected ${shown(expected.get('authorization_discovery'))}, read ${shown(found.get('authorization_discovery'))}`;
}

function shown(value: Json | undefined): string {
  const text = value === undefined ? 'nothing' : write(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

function main(roots: string[]): number {
  let [cases, transcripts, disagreements, unread] = [0, 0, 0, 0];
  for (const root of roots) {
    for (const file of readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()) {
      if (!/(^|[/\\])case\.toml$/.test(file)) continue;
      const folder = join(root, file, '..');
      const verdicts = check(folder);
      if (verdicts === undefined) continue;
      if (verdicts.length === 0) unread += 1;
      else cases += 1;
      for (const [format, complaint] of verdicts) {
        transcripts += 1;
        if (complaint === null) continue;
        disagreements += 1;
        console.log(`${relative(root, folder)}: ${format}: ${complaint}`);
      }
    }
  }
  const passed = unread === 0 ? '' : `; ${unread} cases stand in formats alone that this reader does not have`;
  console.log(`${cases} cases, ${transcripts} transcripts, ${disagreements} disagreements${passed}`);
  if (cases === 0) return 2;
  return disagreements > 0 ? 1 : 0;
}

process.exitCode = main(process.argv.slice(2));
