import type { Numbering, StyleSheet } from './docx-styles.ts';
import type { FlowBlock } from './flow.ts';
import type { XmlElement } from './xml.ts';
import type { Zip } from './zip.ts';

/** What the reading of one story of a Word file (body, header, footnote) refers to. */
export interface DocxContext {
  zip: Zip;
  /** The part being read; its relationships name charts and diagrams. */
  part: string;
  styles: StyleSheet;
  numbering: Numbering;
  /** Text of a footnote or endnote: key `footnote:3`. */
  noteText: (key: string) => string;
  /** Comment text by id, with its author. */
  commentText: (id: string) => string;
  /** Page numbers in headers are those of the last print: left out. */
  dropPageFields?: boolean;
  /** What was met on the way: for notices and pagination. */
  seen: {
    rendered: boolean;
    trackedChanges: boolean;
    /** Other files that Word takes in when it opens this one. */
    chunks: number;
    noteCount: number;
    sections: XmlElement[];
    fonts: Set<string>;
    endnotes: FlowBlock[];
  };
}
