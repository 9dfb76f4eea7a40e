import { expect, test } from 'vitest';
import { createLook, foundIn, isOpen, shareLook, takeLook } from './shared-look.ts';

const state = { change: 7, vector: 2 ** 40, inside: 60_000 };
const slots = Int32Array.of(3, 5, 1_000_000);

test('one thread takes a look, and what it found is everybody\'s', () => {
  const look = createLook(10);
  expect(isOpen(look)).toBe(true);
  expect(foundIn(look, state)).toBeNull();
  expect(takeLook(look)).toBe(true);
  expect(isOpen(look)).toBe(false);
  expect(takeLook(look)).toBe(false);
  // Who has taken it may have died: nobody waits for it.
  expect(foundIn(look, state)).toBeNull();
  shareLook(look, state, slots);
  expect(foundIn(look, state)).toEqual(slots);
  expect(takeLook(look)).toBe(false);
});

test('what was found in another state of the library is nothing', () => {
  const look = createLook(10);
  takeLook(look);
  shareLook(look, state, slots);
  expect(foundIn(look, { ...state, change: 8 })).toBeNull();
  expect(foundIn(look, { ...state, vector: 2 ** 40 + 1 })).toBeNull();
  expect(foundIn(look, { ...state, inside: 59_999 })).toBeNull();
  expect(foundIn(look, { ...state })).toEqual(slots);
});

test('what is too much for its room is not shared', () => {
  const look = createLook(2);
  takeLook(look);
  shareLook(look, state, slots);
  expect(foundIn(look, state)).toBeNull();
  const none = createLook(0);
  takeLook(none);
  shareLook(none, state, new Int32Array(0));
  expect(foundIn(none, state)).toEqual(new Int32Array(0));
});
