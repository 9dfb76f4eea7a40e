import { readUtf16, withCString, type Pdfium } from './pdfium.ts';

/** What people added to a page: values of form fields (part of what the eye sees) and comments (kept apart). */

export interface Annotations {
  /** What the eye sees beside the page's own text: one line a filled field, text written over the page. */
  fields: string[];
  comments: string[];
  /** Annotations with an appearance of their own, fields included: they make a page not empty. */
  visible: number;
}

const LINK = 2;
const FREE_TEXT = 3;
const POPUP = 16;
const WIDGET = 20;
const HIDDEN_FLAGS = 0x02 | 0x20;
/** FPDF_FORMFIELD_*: push button, check box, radio button, signature. */
const PUSH_BUTTON = 1;
const CHECK_BOX = 2;
const RADIO = 3;
const SIGNATURE = 7;
const PASSWORD_FLAG = 1 << 13;
const MAX_ANNOTATIONS = 5000;

/** `form` is the form handle, or 0 for a document without one. */
export function readAnnotations(pdfium: Pdfium, page: number, form: number): Annotations {
  const { call } = pdfium;
  const found: Annotations = { fields: [], comments: [], visible: 0 };
  const count = Math.min(call.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS);
  for (let index = 0; index < count; index += 1) {
    const annotation = call.FPDFPage_GetAnnot(page, index);
    if (annotation === 0) continue;
    const type = call.FPDFAnnot_GetSubtype(annotation);
    if (type === WIDGET) {
      if ((call.FPDFAnnot_GetFlags(annotation) & HIDDEN_FLAGS) === 0) {
        found.visible += 1;
        const value = form === 0 ? '' : fieldLine(pdfium, form, annotation);
        if (value !== '') found.fields.push(value);
      }
    } else if (type !== LINK && type !== POPUP) {
      found.visible += 1;
      const text = withCString(pdfium, 'Contents', (key) =>
        readUtf16(pdfium, (buffer, bytes) => call.FPDFAnnot_GetStringValue(annotation, key, buffer, bytes)),
      );
      const isShown = type === FREE_TEXT && (call.FPDFAnnot_GetFlags(annotation) & HIDDEN_FLAGS) === 0;
      if (text.trim() !== '') (isShown ? found.fields : found.comments).push(clean(text));
    }
    call.FPDFPage_CloseAnnot(annotation);
  }
  return found;
}

function fieldLine(pdfium: Pdfium, form: number, annotation: number): string {
  const { call } = pdfium;
  const type = call.FPDFAnnot_GetFormFieldType(form, annotation);
  if (type === PUSH_BUTTON || type === SIGNATURE) return '';
  if ((call.FPDFAnnot_GetFormFieldFlags(form, annotation) & PASSWORD_FLAG) !== 0 && type !== CHECK_BOX && type !== RADIO) return '';
  const label = clean(readUtf16(pdfium, (buffer, bytes) => call.FPDFAnnot_GetFormFieldAlternateName(form, annotation, buffer, bytes)));
  if (type === CHECK_BOX || type === RADIO) {
    return label !== '' && call.FPDFAnnot_IsChecked(form, annotation) !== 0 ? `${label}: ☒` : '';
  }
  const value = clean(readUtf16(pdfium, (buffer, bytes) => call.FPDFAnnot_GetFormFieldValue(form, annotation, buffer, bytes)));
  if (value === '') return '';
  return label === '' || label === value ? value : `${label}: ${value}`;
}

function clean(text: string): string {
  // oxlint-disable-next-line no-control-regex -- what the eye cannot see has no place in text
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(/[\u0000-\u0008\u000b-\u001f]/g, '').trim();
}
