import { AppError } from '../errors.ts';

export interface Preset {
  id: string;
  /** As people see it. */
  name: string;
  description: string;
  /** Whether pages without text go through OCR. */
  ocr: boolean;
}

/** How a document may be read. Data: a new way of reading is one more line here and its steps in processing/. */
export const presets: readonly Preset[] = [
  { id: 'basic', name: 'Basic', description: 'The text that is in the file; pages without any are marked as pictures.', ocr: false },
  {
    id: 'basic-ocr',
    name: 'Basic with OCR',
    description: 'As Basic, and the words on pages that are pictures are recognised.',
    ocr: true,
  },
];

export const defaultPreset = 'basic';

/** AppError invalid, naming the presets there are. */
export function presetOf(id: string): Preset {
  const preset = presets.find((one) => one.id === id);
  if (preset === undefined) {
    throw new AppError('invalid', `There is no preset '${id.slice(0, 40)}' — use one of: ${presets.map((one) => one.id).join(', ')}`, { field: 'preset' });
  }
  return preset;
}
