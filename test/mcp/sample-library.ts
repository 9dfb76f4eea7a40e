import type { FakeDocument, FakeLibrary } from './fake-library.ts';

export const DESCRIPTION =
  "EIA's 2023 energy outlook release decks, uploaded as PowerPoint files: the International Energy Outlook 2023 (IEO2023, world projections to 2050) and the Annual Energy Outlook 2023 (AEO2023, United States projections to 2050)";

/** The reference's key and folders: `Ava Bennett's documents/Energy outlooks/Basic`, and a folder that the key does not read. */
export function createSampleLibrary(documents: FakeDocument[], change: Partial<FakeLibrary['key']> = {}): FakeLibrary {
  return {
    folders: [
      { ref: 1, name: "Ava Bennett's documents", parent: null },
      { ref: 2, name: 'Energy outlooks', parent: 1 },
      { ref: 3, name: 'Basic', parent: 2 },
      { ref: 4, name: 'Private', parent: 1 },
    ],
    documents,
    key: { name: 'energy-outlooks', description: DESCRIPTION, folders: [2], documents: [], ...change },
  };
}
