import type { Piece } from './columns.ts';

/**
 * Hebrew and Arabic are read from right to left. Whether a PDF has their letters as they are read or as they stand from left to right,
 * and whether PDFium turned them round already, shows only where they are: letters of which each stands to the right of the one before
 * are in the order of the eye, and are turned round.
 */
export interface VisualOrder {
  /** A character that was just appended to `piece`, and where its middle is. */
  add(piece: Piece, char: string, x: number): void;
  end(): void;
}

const rightToLeft = /^[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

export function newVisualOrder(): VisualOrder {
  let run: { piece: Piece; start: number; end: number; x: number; rising: number; falling: number } | undefined;

  const end = (): void => {
    if (run !== undefined && run.rising > run.falling) {
      const { piece, start } = run;
      const turned = Array.from(piece.text.slice(start, run.end)).toReversed().join('');
      piece.text = piece.text.slice(0, start) + turned + piece.text.slice(run.end);
    }
    run = undefined;
  };

  return {
    add(piece, char, x) {
      // Latin, the most of all text, is done with here.
      if (run === undefined && char < '\u0590') return;
      if (!rightToLeft.test(char)) {
        // A mark or a sign between letters may belong to them; a letter or digit of another kind does not.
        if (run !== undefined && (run.piece !== piece || /[\p{L}\p{N}]/u.test(char))) end();
        return;
      }
      const at = piece.text.length - char.length;
      const isNext = run !== undefined && run.piece === piece;
      const hasBlank = isNext && /\s/.test(piece.text.slice(run!.end, at));
      // Words that go on to the left are in the order in which they are read, whatever their letters are.
      if (run === undefined || !isNext || (hasBlank && x < run.x === run.rising > run.falling)) {
        end();
        run = { piece, start: at, end: at + char.length, x, rising: 0, falling: 0 };
        return;
      }
      if (x > run.x) run.rising += 1;
      else if (x < run.x) run.falling += 1;
      run.x = x;
      run.end = at + char.length;
    },
    end,
  };
}
