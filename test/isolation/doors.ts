import type { FastifyInstance } from 'fastify';
import { scopeOf } from '../../src/access/scope.ts';
import { notFound } from '../../src/errors.ts';
import { uploadDocument } from '../../src/library/uploads.ts';
import type { DocumentView } from '../../src/library/views.ts';
import { openConsole, type Person } from '../api/harness.ts';
import { makePdf } from '../support/pdf-fixture.ts';
import type { TestLibrary } from '../support/library.ts';

export interface Doors {
  app: FastifyInstance;
  library: TestLibrary;
  publicUrl: string;
  pdf: Uint8Array;
  person(name: string, role?: 'admin' | 'member'): Promise<Person>;
  /** A document that is ready, with one page of text. */
  upload(person: Person, folderId: string, name: string, bytes: Uint8Array): Promise<DocumentView>;
  close(): Promise<void>;
}

export async function openDoors(): Promise<Doors> {
  const publicUrl = 'http://127.0.0.1:8080';
  const console = await openConsole({
    publicUrl,
    ports: {
      async viewPage(actor, id, page, format) {
        const row = await library.storage.documents.inScope(id, await scopeOf(library.storage, actor));
        await library.audit.record({
          actor,
          action: 'page viewed',
          object: { kind: 'document', id },
          outcome: row === null ? 'denied' : 'ok',
        });
        if (row === null) throw notFound();
        return { bytes: new Uint8Array([page]), sha256: 'ab', name: `page.${format}` };
      },
    },
  });
  const { library, app } = console;
  return {
    app,
    library,
    publicUrl,
    pdf: makePdf(['The harbour was closed in winter']),
    person: console.person,
    async upload(person, folderId, name, bytes) {
      const view = await uploadDocument(library, person, { folderId }, { name, source: whole(bytes) });
      await library.storage.transaction(async (stores) => {
        await stores.documents.update(view.ref, { status: 'ready', pages: 1 });
        await stores.pages.replace(view.ref, [
          {
            number: 1,
            text: 'The harbour was closed in winter',
            fate: 'text',
            toView: false,
            width: 595,
            height: 842,
            sections: [],
            notes: null,
            hidden: null,
          },
        ]);
        await stores.jobs.cancelOfDocument(view.ref, 0);
      });
      return view;
    },
    close: console.close,
  };
}

async function* whole(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
