/**
 * The challenge of a 401 answer.
 *
 * Knows: RFC 9110's grammar of `WWW-Authenticate`, as far as it takes to tell a parameter from text that looks like one.
 * Refuses to know: any scheme, and what a parameter's value says.
 */

import { type Json, JsonNumber } from './json.js';

export type Discovery = {
  visible: true;
  source_kind: 'www_authenticate';
  resource_metadata_visible: boolean;
  authorization_servers_visible: false;
  scope_challenge_visible: boolean;
};

const UNAUTHORIZED = new JsonNumber('401');

/** What the headers of an answer with this status show, or `null`. Only a number is a status. */
export function discovery(status: Json | undefined, headers: Iterable<readonly [string, Json]>): Discovery | null {
  if (!(status instanceof JsonNumber) || !status.equals(UNAUTHORIZED)) return null;
  const names = new Set<string>();
  for (const [name, value] of headers) {
    if (name.toLowerCase() !== 'www-authenticate' || typeof value !== 'string') continue;
    for (const parameter of parameters(value)) names.add(parameter);
  }
  return summary(names.has('resource_metadata'), names.has('scope'));
}

export function joined(one: Discovery | null, other: Discovery | null): Discovery | null {
  if (one === null || other === null) return one ?? other;
  return summary(
    one.resource_metadata_visible || other.resource_metadata_visible,
    one.scope_challenge_visible || other.scope_challenge_visible,
  );
}

function summary(metadata: boolean, scope: boolean): Discovery | null {
  if (!metadata && !scope) return null;
  return {
    visible: true,
    source_kind: 'www_authenticate',
    resource_metadata_visible: metadata,
    authorization_servers_visible: false,
    scope_challenge_visible: scope,
  };
}

/**
 * The names of all parameters of all challenges in a header, in small letters. Walked by hand: a header may be as long as
 * the file, and a regular expression over quoted text needs stack for its length.
 */
function parameters(header: string): string[] {
  const names: string[] = [];
  let at = 0;
  let inChallenge = false;
  while (at < header.length) {
    at = past(header, at, isSpaceOrComma);
    let [end, spaced] = wordAndSpace(header, at);
    // What no value follows is a scheme, with which a challenge begins.
    inChallenge ||= end > at && header.charAt(spaced) !== '=';
    if (header.charAt(end) !== '=' && spaced > end && isToken(header.charAt(spaced))) {
      // `Bearer scope="a"`: the first parameter stands behind the scheme.
      at = spaced;
      [end, spaced] = wordAndSpace(header, at);
    }
    const name = header.slice(at, end);
    at = spaced;
    if (name !== '' && header.charAt(at) === '=') {
      const value = past(header, at + 1, isSpace);
      at = header.charAt(value) === '"' ? quotedEnd(header, value) : past(header, value, isToken);
      const after = past(header, at, isSpace);
      // `Negotiate scope==` has no value that a parameter may have, and quotes that nobody closes are no value either.
      if (inChallenge && at > value && (after === header.length || header.charAt(after) === ',')) names.push(name.toLowerCase());
    }
    at = nextComma(header, at);
  }
  return names;
}

/** Where the token at `at` ends, and where the spaces behind it end. */
function wordAndSpace(text: string, at: number): [end: number, spaced: number] {
  const end = past(text, at, isToken);
  return [end, past(text, end, isSpace)];
}

function past(text: string, at: number, passes: (character: string) => boolean): number {
  let end = at;
  while (end < text.length && passes(text.charAt(end))) end += 1;
  return end;
}

/** Behind the closing quote; `at` itself, where there is none. */
function quotedEnd(text: string, at: number): number {
  for (let end = at + 1; end < text.length; end += 1) {
    if (text.charAt(end) === '"') return end + 1;
    if (text.charAt(end) === '\\') end += 1;
  }
  return at;
}

/** The next comma that is not in quotes. */
function nextComma(text: string, at: number): number {
  for (let end = at; end < text.length; end += 1) {
    if (text.charAt(end) === ',') return end;
    if (text.charAt(end) !== '"') continue;
    const behind = quotedEnd(text, end);
    if (behind === end) break;
    end = behind - 1;
  }
  return text.length;
}

const isSpace = (character: string) => character === ' ' || character === '\t';
const isSpaceOrComma = (character: string) => character === ',' || isSpace(character);
const isToken = (character: string) => /[!#$%&'*+.^_`|~0-9A-Za-z-]/.test(character);
