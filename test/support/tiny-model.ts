/**
 * The smallest real embedding model, written in code: an ONNX graph that looks each token up in a table, and a word
 * tokenizer. Enough to run the whole path of a local model without any weights from elsewhere.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { wordVector } from './fake-models.ts';

export const tinyWords = ['solar', 'power', 'wind', 'turbine', 'interest', 'rate', 'rates', 'rose', 'plant', 'query', ':'];
export const tinyDimensions = 32;

/** Writes model.onnx and tokenizer.json into `folder`. Words outside `tinyWords` are unknown. */
export function writeTinyModel(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const vocabulary = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', ...tinyWords];
  const table = Buffer.concat(vocabulary.map((word) => Buffer.from(Float32Array.from(wordVector(word, tinyDimensions)).buffer)));
  writeFileSync(join(folder, 'model.onnx'), onnxLookup(table, vocabulary.length));
  const special = (content: string, id: number): object => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  });
  writeFileSync(
    join(folder, 'tokenizer.json'),
    JSON.stringify({
      version: '1.0',
      added_tokens: ['[PAD]', '[UNK]', '[CLS]', '[SEP]'].map(special),
      normalizer: { type: 'Lowercase' },
      pre_tokenizer: { type: 'Whitespace' },
      post_processor: {
        type: 'TemplateProcessing',
        single: [{ SpecialToken: { id: '[CLS]', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }, { SpecialToken: { id: '[SEP]', type_id: 0 } }],
        pair: [],
        special_tokens: {
          '[CLS]': { id: '[CLS]', ids: [2], tokens: ['[CLS]'] },
          '[SEP]': { id: '[SEP]', ids: [3], tokens: ['[SEP]'] },
        },
      },
      decoder: null,
      model: { type: 'WordLevel', vocab: Object.fromEntries(vocabulary.map((word, id) => [word, id])), unk_token: '[UNK]' },
    }),
  );
  writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify({ tokenizer_class: 'PreTrainedTokenizerFast', model_max_length: 64 }));
}

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
};
const whole = (field: number, value: number): Buffer => Buffer.concat([varint(field * 8), varint(value)]);
const bytes = (field: number, value: Buffer | string): Buffer => {
  const data = Buffer.from(value as string);
  return Buffer.concat([varint(field * 8 + 2), varint(data.length), data]);
};
const message = (field: number, ...parts: Buffer[]): Buffer => bytes(field, Buffer.concat(parts));

/** last_hidden_state = Gather(table, input_ids): protocol buffers of onnx.proto, by hand. */
function onnxLookup(table: Buffer, rows: number): Buffer {
  const [float, int64] = [1, 7];
  const tensor = (field: number, name: string, type: number, dims: (string | number)[]): Buffer =>
    message(
      field,
      bytes(1, name),
      message(2, message(1, whole(1, type), message(2, ...dims.map((dim) => message(1, typeof dim === 'number' ? whole(1, dim) : bytes(2, dim)))))),
    );
  const graph = message(
    7,
    message(1, bytes(1, 'table'), bytes(1, 'input_ids'), bytes(2, 'last_hidden_state'), bytes(3, 'lookup'), bytes(4, 'Gather')),
    bytes(2, 'tiny'),
    message(5, whole(1, rows), whole(1, tinyDimensions), whole(2, float), bytes(8, 'table'), bytes(9, table)),
    tensor(11, 'input_ids', int64, ['batch', 'sequence']),
    tensor(12, 'last_hidden_state', float, ['batch', 'sequence', tinyDimensions]),
  );
  return Buffer.concat([whole(1, 8), graph, message(8, bytes(1, ''), whole(2, 13))]);
}
