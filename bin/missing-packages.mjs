// Prints the optional packages that package-lock.json has for this machine and node_modules has not, one a line. npm leaves one out without
// a word when the Node that it runs on is older than the package wants, though Sergo runs on its own Node; sharp's binary is one.
import { existsSync, readFileSync } from 'node:fs';

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const libc = process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
const fits = (wanted, ours) => wanted === undefined || wanted.includes(ours);
for (const [path, entry] of Object.entries(packages)) {
  // Binaries alone: what has neither is only there for one that was made for another machine.
  if (entry.optional !== true || (entry.os ?? entry.cpu) === undefined || existsSync(path)) continue;
  if (!fits(entry.os, process.platform) || !fits(entry.cpu, process.arch) || !fits(entry.libc, libc)) continue;
  console.log(path.replace(/^.*node_modules\//, ''));
}
