import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { checkPasswordRules, hashPassword, verifyPassword } from './passwords.ts';

const ruleBroken = (password: string): string | null => {
  try {
    checkPasswordRules(password);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
};

test('rules: length, and nothing that is guessed first', () => {
  expect(ruleBroken('seven77')).toContain('at least 8');
  expect(ruleBroken('👍👍👍👍👍👍👍')).toContain('this one has 7');
  expect(ruleBroken('x'.repeat(1_001))).toContain('at most 1000');
  for (const common of ['password', 'Password1!', 'qwertz123', 'aaaaaaaa', '12345678', 'abcabcabcabc', 'Iloveyou2024', 'changeme']) {
    expect(ruleBroken(common), common).toContain('first that anybody tries');
  }
  for (const fine of ['correct horse battery', 'gräsliche Straße', 'Tr0ub4dor&3x', '日本語のパスワード']) expect(ruleBroken(fine), fine).toBeNull();
});

test('hashes are argon2id with a salt of their own, and only the right password fits', async () => {
  const [first, second] = [await hashPassword('gräsliche Straße', randomBytes), await hashPassword('gräsliche Straße', randomBytes)];
  expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(first).not.toBe(second);
  expect(await verifyPassword('gräsliche Straße', first)).toBe(true);
  expect(await verifyPassword('gra\u0308sliche Straße', first)).toBe(true);
  expect(await verifyPassword('gräsliche Strasse', first)).toBe(false);
  expect(await verifyPassword('', first)).toBe(false);
  expect(await verifyPassword('x'.repeat(10_000_000), first)).toBe(false);
  expect(await verifyPassword('gräsliche Straße', null)).toBe(false);
  expect(await verifyPassword('gräsliche Straße', 'none')).toBe(false);
});
