import { causeOf, ok, type Result } from '../../model/errors.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import { SessionId } from '../../model/ids.ts'
import { beginSession } from '../../session/workspace/begin.ts'
import { ofSession, route } from './exchange/route.ts'
import type { SessionActivity } from '../../session/live-sessions.ts'
import type { Session } from '../../session/session.ts'
import { attachSession, inSession, type AttachedSession } from './attached-session.ts'
import {
  CompactBody,
  CreateSession,
  ForkBody,
  ListQuery,
  RewindBody,
  SessionParam,
} from './protocol.ts'
import type { ServerParts } from './server-parts.ts'
import { apiCompaction, type ApiCompaction } from './translate-compaction.ts'
import {
  apiFork,
  apiRewind,
  apiSession,
  type ApiFork,
  type ApiRewind,
  type ApiSession,
} from './translate.ts'
import {
  inHeld,
  noSuchSession,
  type HeldWorkspace,
  type Workspaces,
} from '../../session/workspace/open-workspaces.ts'

/** Creates, lists, shows and deletes Sessions. */
export const SESSION_ROUTES = [
  route('POST /api/harness/session/create', {
    summary: 'Creates a Session.',
    body: CreateSession,
    answer: 'CreatedSession',
    status: 201,
    handle: async ({ workspaces, env }: ServerParts, { body }) => {
      const { projectRoot, permissionMode: permission, ...choice } = body
      return inHeld(workspaces.hold(projectRoot, { make: true }), async (held) => {
        const begun = await beginSession(held.workspace, { ...choice, permission }, { env })
        if (!begun.ok) return begun
        const { session, warning } = begun.value
        await session.close()
        const shown = await shownSession(held, session.id)
        return shown.ok ? ok({ ...shown.value, ...definedFields({ warning }) }) : shown
      })
    },
  }),
  route('GET /api/harness/session/list', {
    summary: 'The Sessions of a folder, the latest first.',
    query: ListQuery,
    answer: 'Sessions',
    handle: ({ workspaces }: ServerParts, { query }) =>
      listedSessions(workspaces, query.projectRoot),
  }),
  route('GET /api/harness/session/:id', {
    summary: 'One Session.',
    ids: SessionParam,
    answer: 'OneSession',
    handle: async ({ workspaces }: ServerParts, { ids: { id } }) =>
      ofSession(await inHeld(workspaces.holdFor(id), (held) => shownSession(held, id))),
  }),
  route('DELETE /api/harness/session/:id', {
    summary: 'Deletes a Session.',
    ids: SessionParam,
    answer: 'DeletedSession',
    handle: async ({ workspaces, drafts, queues }: ServerParts, { ids: { id } }) => {
      const deleted = await inHeld(workspaces.holdFor(id), async ({ workspace }) => {
        const gone = await workspace.harness.delete(id)
        return gone.ok ? ok({ deleted: id }) : gone
      })
      if (deleted.ok) {
        await queues.forget(id)
        await drafts.update(id, () => ok(undefined))
      }
      return ofSession(deleted)
    },
  }),
  route('POST /api/harness/session/:id/fork', {
    summary: 'Creates a Session that shares this one up to a point.',
    body: ForkBody,
    answer: 'ForkedSession',
    status: 201,
    handle: async ({ workspaces }: ServerParts, { context, body }) => {
      const id = SessionId.safeParse(context.req.param('id')).data
      if (id === undefined) return ofSession(noSuchSession())
      return ofSession(await inHeld(workspaces.holdFor(id), (held) => forkOf(held, id, body)))
    },
  }),
  route('POST /api/harness/session/:id/rewind', {
    summary:
      'Creates a Session that shares this one up to a message, and returns the message; can restore files.',
    body: RewindBody,
    answer: 'RewoundSession',
    status: 201,
    handle: async (parts: ServerParts, { context, body }) => {
      const attaching = attachSession(parts, context.req.param('id'))
      return ofSession(await inSession(attaching, (attached) => rewind(attached, body)))
    },
  }),
  route('POST /api/harness/session/:id/compact', {
    summary: 'Records a checkpoint, or shows what it would do.',
    body: CompactBody,
    answer: 'Compacted',
    handle: async (parts: ServerParts, { context, body }) => {
      const attaching = attachSession(parts, context.req.param('id'))
      const compacted = await inSession(attaching, ({ session }) => compact(session, body.dryRun))
      return ofSession(compacted)
    },
  }),
]

/** What a compaction recorded or, in a dry run, would record; or why there is none. */
async function compact(
  session: Session,
  dryRun: boolean,
): Promise<Result<{ readonly compaction: ApiCompaction }>> {
  if (dryRun) {
    const preview = await session.previewCompaction()
    if (!preview.ok) return preview
    const { plan, request_bytes: requestBytes } = preview.value
    return ok({ compaction: { ...apiCompaction(plan, { dryRun }), requestBytes } })
  }
  const outcome = await session.compact()
  if (!outcome.ok) return outcome
  return ok({ compaction: apiCompaction(outcome.value, { dryRun }) })
}

async function forkOf(
  held: HeldWorkspace,
  id: SessionId,
  { atSeq, turn }: ForkBody,
): Promise<Result<{ readonly session: ApiSession; readonly fork: ApiFork }>> {
  const after = turn === undefined ? undefined : { turn }
  const at = atSeq === undefined ? after : { seq: atSeq }
  const forked = await held.workspace.harness.fork(id, at)
  if (!forked.ok) return forked
  const shown = await shownSession(held, forked.value.session_id)
  return shown.ok ? ok({ ...shown.value, fork: apiFork(forked.value) }) : shown
}

async function rewind(
  { session, holding }: AttachedSession,
  body: RewindBody,
): Promise<Result<{ readonly session: ApiSession; readonly rewind: ApiRewind }>> {
  const rewound = await session.rewind(body)
  if (!rewound.ok) return rewound
  const shown = await shownSession(holding, rewound.value.session_id)
  return shown.ok ? ok({ ...shown.value, rewind: apiRewind(rewound.value) }) : shown
}

/** With what this server does in it now. */
type ShownSession = ApiSession & SessionActivity

async function shownSession(
  { path, workspace }: HeldWorkspace,
  id: SessionId,
): Promise<Result<{ readonly session: ShownSession }>> {
  const found = await workspace.harness.find(id)
  if (!found.ok) return found
  return ok({ session: { ...apiSession(found.value, path), ...workspace.harness.activityOf(id) } })
}

/** A folder that was never used has no Sessions, which is not an error. */
async function listedSessions(
  workspaces: Workspaces,
  projectRoot: string,
): Promise<Result<{ readonly sessions: readonly ShownSession[] }>> {
  const listed = await inHeld(workspaces.hold(projectRoot), async ({ path, workspace }) => {
    const { harness } = workspace
    const all = await harness.list()
    return ok({
      sessions: all.map((one) => ({ ...apiSession(one, path), ...harness.activityOf(one.id) })),
    })
  })
  if (!listed.ok && causeOf(listed.error)?.type === 'never_used') return ok({ sessions: [] })
  return listed
}
