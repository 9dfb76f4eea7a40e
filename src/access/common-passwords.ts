/**
 * The passwords people try first, at least 8 characters long (shorter ones are refused anyway). Compared after lower-casing and
 * taking away what is put around them (`!`, digits at the end), so that one line here stands for many variants.
 */
export const commonPasswords: ReadonlySet<string> = new Set(
  `password passwort passw0rd p@ssword p@ssw0rd password1 qwertyui qwertyuiop qwerty12 qwerty123 qwertz qwertzui qwertzuiop asdfghjk
asdfghjkl zxcvbnm azertyui azertyuiop 12345678 123456789 1234567890 123123123 11111111 00000000 88888888 87654321 987654321 0987654321
12341234 11223344 1q2w3e4r 1q2w3e4r5t 1qaz2wsx qazwsxedc zaq12wsx abc12345 abcd1234 abcdefgh abcdefg1 a1b2c3d4 iloveyou iloveyou1 sunshine princess football
baseball superman batman123 trustno1 starwars whatever computer internet michelle jennifer jordan23 charlie1 letmein1 letmein welcome
welcome1 changeme changeit admin123 administrator administrator1 root1234 rootroot adminadmin default1 guest123 test1234 testtest testing123 secret123
topsecret mypassword yourpassword nopassword password123 password1234 passwordpassword drowssap monkey123 dragon123 master123 shadow123 killer123
hello123 hellohello freedom1 mustang1 maverick midnight corvette mercedes elephant hunter22 liverpool arsenal1 chelsea1 barcelona realmadrid
metallica slipknot pokemon1 minecraft nintendo playstation samsung1 facebook linkedin google123 qwerty1234 q1w2e3r4 q1w2e3r4t5 zxcvbnm1 asdf1234 asdfasdf
aaaaaaaa abcabcabc 1234abcd 12qwaszx 147258369 159753456 741852963 789456123 123654789 password! sergo123 sergosergo correcthorse documents library123`
    .split(/\s+/),
);

export function isCommonPassword(password: string): boolean {
  const plain = password.normalize('NFKC').toLowerCase();
  if (commonPasswords.has(plain)) return true;
  const bare = plain.replace(/(?<![\d!?.#*$_-])[\d!?.#*$_-]+$/u, '');
  return (bare.length >= 5 && commonPasswords.has(bare)) || /^(.)\1*$/u.test(plain) || /^(.{1,3})\1+$/u.test(plain);
}
