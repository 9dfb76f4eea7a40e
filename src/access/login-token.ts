import type { RandomBytes } from '../clock.ts';
import { randomBase62 } from './random-text.ts';

const prefix = 'sgl_';
const length = 43;

/** A login token: 256 random bits. Only its SHA-256 is stored. */
export const makeLoginToken = (random: RandomBytes): string => prefix + randomBase62(length, random);

/** By form alone: a bearer of this form is a login token, anything else that is no key is malformed. */
export const isLoginToken = (text: string): boolean => text.length === prefix.length + length && /^sgl_[0-9A-Za-z]+$/.test(text);

/** Without a call for this long a login ends. */
export const loginIdleMs = 24 * 3_600_000;
/** However busy, a login ends this long after the password was typed. */
export const loginLongestMs = 30 * 24 * 3_600_000;
/** The end is moved on at most this often, so that reading does not write. */
export const loginExtendEveryMs = 3_600_000;
