/**
 * `node bench/same-vectors.ts --model FOLDER [--texts 300] [--python python3]`: whether the product's way to a local model (its own
 * tokenizer, WebAssembly) makes the vectors of the native ONNX runtime with the same weights. Texts of all lengths, also of more tokens
 * than the model reads. Prints the lowest cosine; last line: JSON. What `--python` needs is said in bench/native-vectors.py.
 */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createEmbeddingProvider } from '../src/ai/embeddings.ts';
import { textMaker } from './search-text.ts';

const { values: options } = parseArgs({
  options: { model: { type: 'string' }, texts: { type: 'string', default: '300' }, python: { type: 'string', default: 'python3' } },
});
if (options.model === undefined) {
  process.stderr.write('Say where the model is: --model FOLDER, with model.onnx, tokenizer.json and sentence_bert_config.json\n');
  process.exit(2);
}
const folder = resolve(options.model);
const make = textMaker(7);
/** What tokenizers stumble over, where a text has room for it. */
const odd = ['Übersicht über naïve Größen', '悬空线路 12.5 kV', 'TPS71725QDRV', 'µA/√Hz', '«l’énergie»', 'tab\tand  spaces', '🙂'];
const texts = Array.from({ length: Number(options.texts) }, (_, i) => `${odd[i % (odd.length * 2)] ?? ''} ${make.text(1 + Math.floor(1.025 ** (i % 260)))}`.trim());

const native = spawnSync(options.python, [join(import.meta.dirname, 'native-vectors.py'), folder], {
  input: texts.map((text) => `${JSON.stringify(text)}\n`).join(''),
  encoding: 'utf8',
  maxBuffer: 1 << 30,
  stdio: ['pipe', 'pipe', 'inherit'],
});
if (native.status !== 0) process.exit(1);
const expected = native.stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as number[]);

const provider = createEmbeddingProvider({ source: { kind: 'local', folder, queryPrefix: '', passagePrefix: '' }, key: null, dimensions: null });
const vectors = await provider.embed(texts, 'passage');
await provider.close();

const cosines = vectors.map((vector, i) => vector.reduce((sum, x, at) => sum + x * expected[i]![at]!, 0));
const lowest = Math.min(...cosines);
console.log(`${texts.length} texts of 1 to ${Math.max(...texts.map((text) => text.split(/\s+/).length))} words: the lowest cosine is ${lowest.toFixed(9)}`);
console.log(JSON.stringify({ bench: 'same-vectors', texts: texts.length, lowestCosine: lowest, text: lowest < 0.999 ? texts[cosines.indexOf(lowest)] : undefined }));
