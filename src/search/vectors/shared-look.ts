/**
 * What one thread finds for a search that another will answer: the look through the signs of a large scope mostly waits for memory, so
 * who looks for one question looks for some that wait as well. The waiting search stays where it was in every other respect; whoever
 * answers it takes what was found if it is of the very same state of the library, and looks itself if not.
 */

/** What a look depends on beside the question and the scope. Threads that see the same have the same vectors in the same scope. */
export interface LookState {
  /** The last change of the library that the scope takes into account. */
  change: number;
  /** The last vector that was read. */
  vector: number;
  /** Vectors inside the scope. */
  inside: number;
}

/** With whom a look is shared. */
export interface SharedWith {
  change: number;
  /** Where it may have been done already. */
  look: SharedArrayBuffer | null;
  /** Questions of the same scope that wait, the number of nearest each wants, and where what is found for them goes. */
  fellows: readonly { vector: Float32Array; keep: number; look: SharedArrayBuffer }[];
}

/** States, in this order only: nobody looks; somebody looks, and may have died over it; done. */
const [OPEN, TAKEN, DONE] = [0, 1, 2];

/** Places in the memory of a look: its state, how many slots were found, three numbers of its LookState, the slots. */
const [STATE, COUNT] = [0, 1];
const STATE_OF = 8;
const SLOTS = STATE_OF + 3 * 8;

/** Room for a look that finds at most `most` slots. */
export const createLook = (most: number): SharedArrayBuffer => new SharedArrayBuffer(SLOTS + most * 4);

export const isOpen = (look: SharedArrayBuffer): boolean => Atomics.load(new Int32Array(look, 0, 2), STATE) === OPEN;

/** True for one caller only, who then looks. */
export const takeLook = (look: SharedArrayBuffer): boolean => Atomics.compareExchange(new Int32Array(look, 0, 2), STATE, OPEN, TAKEN) === OPEN;

/** By who has taken it. What is too much for its room is not shared. */
export function shareLook(look: SharedArrayBuffer, state: LookState, slots: Int32Array): void {
  const head = new Int32Array(look, 0, 2);
  if (slots.length > (look.byteLength - SLOTS) / 4) return;
  new Float64Array(look, STATE_OF, 3).set([state.change, state.vector, state.inside]);
  new Int32Array(look, SLOTS, slots.length).set(slots);
  head[COUNT] = slots.length;
  Atomics.store(head, STATE, DONE);
}

/** What was found in just this state; null when nothing was, or something else. */
export function foundIn(look: SharedArrayBuffer, state: LookState): Int32Array | null {
  const head = new Int32Array(look, 0, 2);
  if (Atomics.load(head, STATE) !== DONE) return null;
  const [change, vector, inside] = new Float64Array(look, STATE_OF, 3);
  if (change !== state.change || vector !== state.vector || inside !== state.inside) return null;
  return new Int32Array(look, SLOTS, head[COUNT]).slice();
}
