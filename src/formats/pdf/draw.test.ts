import { expect, test } from 'vitest';
import { withoutColour } from './draw.ts';

const picture = (pixels: [number, number, number][]) => ({
  width: pixels.length,
  height: 1,
  rgba: Uint8Array.from(pixels.flatMap(([r, g, b], at) => [r, g, b, at % 256])),
});

test('a picture without colour is one byte a pixel, whatever its fourth byte says', () => {
  const { pixels, channels } = withoutColour(picture([[0, 0, 0], [255, 255, 255], [17, 17, 17]]));
  expect(channels).toBe(1);
  expect([...pixels]).toEqual([0, 255, 17]);
});

test.each<[number, number, number]>([[1, 0, 0], [0, 1, 0], [0, 0, 1], [255, 255, 254]])('one pixel of %i, %i, %i keeps the colours', (r, g, b) => {
  const drawn = picture([[9, 9, 9], [r, g, b]]);
  expect(withoutColour(drawn)).toEqual({ pixels: drawn.rgba, channels: 4 });
});
