/**
 * Members that decide something.
 *
 * Knows: that such a member may stand once and has a type. Refuses to know: what it decides. Members inside of values
 * (arguments, params, results) are never asked for here: they may repeat, and are kept.
 */

import { type Json, JsonObject } from './json.js';
import { Rejection } from './rejection.js';

/** The member, or `undefined` where there is none. One that stands twice could mean two things. */
export function member(object: JsonObject, name: string, place: string): Json | undefined {
  if (object.isTwice(name)) throw new Rejection('ambiguous-member', place, `the member ${JSON.stringify(name)} stands twice`);
  return object.get(name);
}

/** A member that is an object; `undefined` where it is missing or null. */
export function objectMember(object: JsonObject, name: string, place: string): JsonObject | undefined {
  const value = member(object, name, place);
  if (value === undefined || value === null || value instanceof JsonObject) return value ?? undefined;
  throw new Rejection('wrong-type', `${place}/${name}`, `it is ${kindOf(value)}, and an object is due`);
}

/** A member that is a string; `undefined` where it is missing or null. */
export function stringMember(object: JsonObject, name: string, place: string): string | undefined {
  const value = member(object, name, place);
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
  throw new Rejection('wrong-type', `${place}/${name}`, `it is ${kindOf(value)}, and a string is due`);
}

export function kindOf(value: Json): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return 'a string';
  if (Array.isArray(value)) return 'an array';
  return value instanceof JsonObject ? 'an object' : `the number ${value.text}`;
}
