/**
 * A transcript that is refused.
 *
 * Knows: the names that the suite gives to reasons, and that every refusal has a place. Refuses to know: when to refuse.
 */

export type Code =
  | 'invalid-utf8'
  | 'invalid-json'
  | 'truncated'
  | 'not-a-message'
  | 'invalid-version'
  | 'invalid-method'
  | 'invalid-id'
  | 'ambiguous-message'
  | 'ambiguous-member'
  | 'duplicate-call-id'
  | 'wrong-transport'
  | 'invalid-entry'
  | 'batch'
  | 'missing-entries'
  | 'broken-data'
  | 'nested-data'
  | 'missing-meta'
  | 'second-meta'
  | 'unsupported-version'
  | 'missing-raw'
  | 'missing-dir'
  | 'after-end'
  | 'wrong-document'
  | 'wrong-type'
  | 'limit';

export class Rejection extends Error {
  /** `place` is a line, a position, or the way through the document (`/entries/2/sse`). */
  constructor(
    readonly code: Code,
    place: string,
    why: string,
  ) {
    super(place === '' ? why : `${place}: ${why}`);
  }
}
