/** Why nothing can be answered. */
export class ConcordError extends Error {
  override readonly name = "ConcordError";
  /**
   * The kind: the code of a rejection, such as `invalid-id`; `bad-option`, `unknown-format`, `cannot-carry`, `other-revision`,
   * `nothing-whole`, `interrupted` or `failed`; or, of this package, `not-loaded`, `out-of-memory` or `panic`.
   */
  readonly code: string;
  /** The recording at fault, as it was named; null where the call is at fault. */
  readonly recording: string | null;
  /** The clause of the reading contract by which the recording is rejected. */
  readonly clause: string | null;
  /** The line in the recording, from 1. */
  readonly line: number | null;
  /** The column, from 1, in characters. */
  readonly column: number | null;
  /** JSON pointer into the document or the line. */
  readonly pointer: string | null;

  constructor(text: string, code: string, at: Partial<Place> = {}) {
    super(text);
    this.code = code;
    this.recording = at.name ?? null;
    this.clause = at.clause ?? null;
    this.line = at.line ?? null;
    this.column = at.column ?? null;
    this.pointer = at.pointer ?? null;
  }
}

/** Where a recording was rejected, as the library says it. */
export interface Place {
  name: string | null;
  clause: string | null;
  line: number | null;
  column: number | null;
  pointer: string | null;
}
