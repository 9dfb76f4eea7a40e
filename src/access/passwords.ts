import { argon2, timingSafeEqual } from 'node:crypto';
import type { RandomBytes } from '../clock.ts';
import { AppError } from '../errors.ts';
import { isCommonPassword } from './common-passwords.ts';

/** argon2id with 19 MiB and two passes (OWASP's first choice); other values in a stored hash are honoured when it is checked. */
const parameters = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
const saltBytes = 16;
const minimumLength = 8;
/** Long enough for any passphrase, short enough that hashing costs nothing to speak of. */
const maximumLength = 1_000;

/** AppError invalid, field `password`, with the rule that was broken. Any character and pasting are fine. */
export function checkPasswordRules(password: string): void {
  const length = Array.from(password).length;
  const wrong = (message: string): AppError => new AppError('invalid', message, { field: 'password' });
  if (length < minimumLength) throw wrong(`A password needs at least ${minimumLength} characters — this one has ${length}`);
  if (length > maximumLength) throw wrong(`A password has at most ${maximumLength} characters — this one has ${length}`);
  if (isCommonPassword(password)) throw wrong('This password is among the first that anybody tries — choose another one, a few unrelated words are good');
}

/** PHC text: `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`. */
export async function hashPassword(password: string, random: RandomBytes): Promise<string> {
  const salt = Buffer.from(random(saltBytes));
  const hash = await derive(password, salt, parameters);
  const cost = `m=${parameters.memory},t=${parameters.passes},p=${parameters.parallelism}`;
  return `$argon2id$v=19$${cost}$${encode(salt)}$${encode(hash)}`;
}

/** `stored` null (an unknown e-mail) costs the same time and answers false. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const parts = stored === null ? null : readPhc(stored);
  // Longer than any password that can have been set: hash a short stand-in, so that the answer costs the same.
  const tooLong = Array.from(password.slice(0, maximumLength * 2 + 1)).length > maximumLength;
  const asked = tooLong ? 'too long' : password;
  if (parts === null) {
    await derive(asked, Buffer.alloc(saltBytes), parameters);
    return false;
  }
  const hash = await derive(asked, parts.salt, { ...parts.cost, tagLength: parts.hash.length });
  return timingSafeEqual(hash, parts.hash) && !tooLong;
}

function derive(password: string, nonce: Uint8Array, cost: typeof parameters): Promise<Buffer> {
  // The same letters typed on another keyboard may come composed differently.
  const message = Buffer.from(password.normalize('NFC'), 'utf8');
  return new Promise((resolve, reject) => {
    argon2('argon2id', { message, nonce, ...cost }, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

function readPhc(text: string): { cost: Omit<typeof parameters, 'tagLength'>; salt: Buffer; hash: Buffer } | null {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(text);
  if (match === null) return null;
  const [, memory, passes, parallelism, salt, hash] = match;
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt ?? '', 'base64'),
    hash: Buffer.from(hash ?? '', 'base64'),
  };
}

const encode = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/={1,2}$/, '');
