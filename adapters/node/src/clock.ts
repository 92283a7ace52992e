/**
 * Moments, for the two formats that are ordered by time.
 *
 * Knows: ISO 8601 date-times and milliseconds, with any fraction of a second. Refuses to know: what time it is, and
 * every zone that is not written down.
 */

import { JsonNumber } from './json.js';

/** Attoseconds, since 1970 or since another moment. Finer than any clock writes; what is finer still is cut off. */
export type Time = bigint;

const [MILLISECOND_DIGITS, SECOND_DIGITS] = [15, 18];
const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:([Zz])|([+-])(\d\d)(?::?(\d\d))?)?$/;

/** A date-time; without a zone it is read as UTC. `undefined` where it is none. */
export function dateTime(text: string): Time | undefined {
  const found = DATE_TIME.exec(text);
  if (found === null) return undefined;
  const part = (at: number) => Number(found[at] ?? 0);
  const [month, day, hour, minute, second] = [part(2), part(3), part(4), part(5), part(6)];
  const midnight = new Date(Date.UTC(2000, month - 1, day));
  midnight.setUTCFullYear(part(1), month - 1, day);
  // A leap second and 24:00 are moments too; a 13th month and a 31st of June are not.
  if (midnight.getUTCMonth() !== month - 1 || midnight.getUTCDate() !== day) return undefined;
  if (hour > 24 || minute > 59 || second > 60) return undefined;
  const offset = (found[9] === '-' ? -1 : 1) * (part(10) * 60 + part(11));
  const seconds = midnight.getTime() / 1000 + hour * 3600 + (minute - offset) * 60 + second;
  const fraction = (found[7] ?? '').slice(0, SECOND_DIGITS).padEnd(SECOND_DIGITS, '0');
  return BigInt(seconds) * 10n ** BigInt(SECOND_DIGITS) + BigInt(fraction);
}

/** A number of milliseconds; `undefined` where it is longer than any recording. */
export function milliseconds(number: JsonNumber): Time | undefined {
  const { negative, digits, exponent } = number.decimal();
  const shift = exponent + BigInt(MILLISECOND_DIGITS);
  if (shift + BigInt(digits.length) > 40n) return undefined;
  const kept = shift >= 0n ? digits + '0'.repeat(Number(shift)) : digits.slice(0, Math.max(0, digits.length + clamp(shift)));
  return (negative ? -1n : 1n) * BigInt(kept === '' ? '0' : kept);
}

function clamp(shift: bigint): number {
  return shift < -1_000_000_000n ? -1_000_000_000 : Number(shift);
}

/** Orders by time and leaves equal times as they stand. */
export function byTime(a: { time: Time }, b: { time: Time }): number {
  return a.time < b.time ? -1 : a.time > b.time ? 1 : 0;
}
