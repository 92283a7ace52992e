/** Bare messages, one on a line. Nothing tells who sent them. */

import { lines } from '../bytes.js';
import type { Session } from '../contract.js';

export function readJsonrpc(bytes: Uint8Array, session: Session): void {
  for (const { value, place } of lines(bytes)) session.add(value, place, null);
}
