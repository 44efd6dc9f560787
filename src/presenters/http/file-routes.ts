import { ok, type Result } from '../../model/errors.ts'
import type { TurnId } from '../../model/ids.ts'
import type { Session } from '../../session/session.ts'
import { turnNamed } from '../../session/workspace/session-reference.ts'
import { attachSession, inSession } from './attached-session.ts'
import { ofSession, route } from './exchange/route.ts'
import { DiffQuery, RedoBody, SessionParam, UndoBody } from './protocol.ts'
import type { ServerParts } from './server-parts.ts'
import { apiDiff, apiUndo } from './changes/translate-files.ts'

/** Shows and restores what a Session changed in the workspace. */
export const FILE_ROUTES = [
  route('GET /api/harness/session/:id/diff', {
    summary: 'What a Session, or one of its Turns, changed in files.',
    ids: SessionParam,
    query: DiffQuery,
    answer: 'FileDiffs',
    handle: async (parts: ServerParts, { ids: { id }, query: { turn, now } }) =>
      ofSession(
        await inSession(attachSession(parts, id), async ({ session, holding }) => {
          const named = await turnOf(holding.workspace, session, turn)
          if (!named.ok) return named
          const diff = await session.diff(named.value, { now: now === 'true' })
          return diff.ok ? ok({ diff: apiDiff(diff.value) }) : diff
        }),
      ),
  }),
  route('POST /api/harness/session/:id/undo', {
    summary: 'Restores the files that a Turn, or a command of the person, changed.',
    body: UndoBody,
    answer: 'FilesRestored',
    handle: async (parts: ServerParts, { context, body: { turn, to, force } }) =>
      ofSession(
        await inSession(
          attachSession(parts, context.req.param('id')),
          async ({ session, holding }) => {
            const number = turn ?? to
            const named = await turnOf(holding.workspace, session, number && String(number))
            if (!named.ok) return named
            const onwards = to !== undefined
            const undone = await session.undo(named.value, { onwards, force })
            return undone.ok ? ok({ restored: apiUndo(undone.value) }) : undone
          },
        ),
      ),
  }),
  route('POST /api/harness/session/:id/redo', {
    summary: 'Reverses the last undo, unless files were changed since.',
    body: RedoBody,
    answer: 'FilesRestored',
    handle: async (parts: ServerParts, { context, body: { force } }) =>
      ofSession(
        await inSession(attachSession(parts, context.req.param('id')), async ({ session }) => {
          const redone = await session.redo({ force })
          return redone.ok ? ok({ restored: apiUndo(redone.value) }) : redone
        }),
      ),
  }),
]

function turnOf(
  { harness }: { readonly harness: Parameters<typeof turnNamed>[0] },
  session: Session,
  number: string | 0 | undefined,
): Promise<Result<TurnId | undefined>> {
  return turnNamed(harness, session, number === 0 ? undefined : number)
}
