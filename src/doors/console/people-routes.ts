import { z } from 'zod';
import {
  createPerson,
  editPerson,
  listPeople,
  resetPassword,
  setPersonDisabled,
  type PersonView,
} from '../../access/people.ts';
import { actorOf } from './authentication.ts';
import type { ConsoleApp, ConsoleDeps } from './deps.ts';
import { empty, errorAnswers, idParams, time } from './schemas.ts';

const tags = ['people'];
const role = z.enum(['admin', 'member']);
const personSchema = z
  .object({ userId: z.string(), name: z.string(), email: z.string(), role, disabled: z.boolean(), created: time })
  .meta({ id: 'Person' });
const name = z.string().min(1).max(200);
const email = z.string().min(3).max(320);
const password = z.string().min(1).max(1024);

const shown = ({ createdAt, ...person }: PersonView) => ({ ...person, created: new Date(createdAt).toISOString() });

/** For admins: AppError forbidden for everybody else, from the services. */
export function addPeopleRoutes(app: ConsoleApp, deps: ConsoleDeps): void {
  const { library } = deps;

  app.get(
    '/people',
    {
      schema: {
        summary: 'Everybody',
        tags,
        response: { 200: z.object({ people: z.array(personSchema) }), ...errorAnswers },
      },
    },
    async (request) => ({
      people: (await listPeople(library, actorOf(request))).map(shown),
    }),
  );

  app.post(
    '/people',
    {
      schema: {
        summary: 'Make a user with a root folder',
        tags,
        body: z.strictObject({ name, email, password, role: role.default('member') }),
        response: { 201: personSchema.extend({ rootFolderId: z.string() }), ...errorAnswers },
      },
    },
    async (request, reply) => {
      const { rootFolderId, ...person } = await createPerson(library, actorOf(request), request.body);
      return reply.code(201).send({ ...shown(person), rootFolderId });
    },
  );

  app.patch(
    '/people/:id',
    {
      schema: {
        summary: 'Change name, e-mail or role; disable or enable',
        tags,
        params: idParams,
        body: z.strictObject({
          name: name.optional(),
          email: email.optional(),
          role: role.optional(),
          disabled: z.boolean().optional(),
        }),
        response: { 200: personSchema, ...errorAnswers },
      },
    },
    async (request) => {
      const { disabled, ...change } = request.body;
      const actor = actorOf(request);
      const { id } = request.params;
      // Nothing to change but `disabled`: no second row in the audit log.
      const edited =
        disabled === undefined || Object.keys(change).length > 0 ? await editPerson(library, actor, id, change) : null;
      const person = disabled === undefined ? edited : await setPersonDisabled(library, actor, id, disabled);
      return shown(person as PersonView);
    },
  );

  app.post(
    '/people/:id/password',
    {
      schema: {
        summary: "Set a new password; ends that user's logins",
        tags,
        params: idParams,
        body: z.strictObject({ password }),
        response: { 204: empty, ...errorAnswers },
      },
    },
    async (request, reply) => {
      await resetPassword(library, actorOf(request), request.params.id, request.body.password);
      return reply.code(204).send(null);
    },
  );
}
