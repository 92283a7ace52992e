/** Whether two JSON values are one, for whoever checks what a reader read. The reader itself does not need it. */

import { type Json, JsonNumber, JsonObject } from './json.js';

/** The same JSON: members in any order, numbers by their decimal, strings by their code units; or `forgiven` says so. */
export function equal(left: Json, right: Json, forgiven: (a: Json, b: Json) => boolean = () => false): boolean {
  const pairs: [Json, Json][] = [[left, right]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [a, b] = pair;
    if (forgiven(a, b)) continue;
    if (a instanceof JsonNumber) {
      if (!(b instanceof JsonNumber) || !a.equals(b)) return false;
    } else if (Array.isArray(a)) {
      if (!Array.isArray(b) || a.length !== b.length) return false;
      for (let at = 0; at < a.length; at += 1) pairs.push([a[at] as Json, b[at] as Json]);
    } else if (a instanceof JsonObject) {
      if (!(b instanceof JsonObject) || a.names.length !== b.names.length) return false;
      const [ours, theirs] = [byName(a), byName(b)];
      for (const [at, [name, value]] of ours.entries()) {
        const [their, theirValue] = theirs[at] as [string, Json];
        if (their !== name) return false;
        pairs.push([value, theirValue]);
      }
    } else if (a !== b) {
      return false;
    }
  }
  return true;
}

/** Members ordered by name, those of one name by their place. */
function byName(object: JsonObject): [string, Json][] {
  const members = object.names.map((name, at): [string, Json] => [name, object.values[at] as Json]);
  return members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}
