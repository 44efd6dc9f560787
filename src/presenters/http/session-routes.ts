import { Hono } from 'hono'
import { causeOf, ok, type Result } from '../../model/errors.ts'
import { beginSession } from '../../session/workspace/begin.ts'
import { answerFailure, answerResult, type RequestVariables } from './exchange/answer.ts'
import type { Session } from '../../session/session.ts'
import { attachSession, inSession } from './attached-session.ts'
import { CompactBody, CreateSession, ListQuery, SessionParam } from './protocol.ts'
import { checkValue, jsonBody } from './exchange/request-body.ts'
import type { ServerParts } from './server-parts.ts'
import { apiCompaction, type ApiCompaction } from './translate-compaction.ts'
import { apiSession, type ApiSession } from './translate.ts'
import {
  inHeld,
  noSuchSession,
  type HeldWorkspace,
  type Workspaces,
} from '../../session/workspace/open-workspaces.ts'

/** Creates, lists, shows and deletes Sessions. */
export function sessionRoutes(parts: ServerParts): Hono<RequestVariables> {
  const { workspaces, env } = parts
  const routes = new Hono<RequestVariables>()
  routes.post('/session/create', async (context) => {
    const body = await jsonBody(context.req.raw, CreateSession)
    if (!body.ok) return answerFailure(context, body.error)
    const { projectRoot, permissionMode: permission, ...choice } = body.value
    const created = await inHeld(workspaces.hold(projectRoot, { make: true }), async (held) => {
      const begun = await beginSession(held.workspace, { ...choice, permission }, { env })
      if (!begun.ok) return begun
      const { session, warning } = begun.value
      await session.close()
      const shown = await shownSession(held, session.id)
      if (!shown.ok) return shown
      return ok({ ...shown.value, ...(warning === undefined ? {} : { warning }) })
    })
    return created.ok ? answerResult(context, created, 201) : answerFailure(context, created.error)
  })
  routes.get('/session/list', async (context) => {
    const query = checkValue(ListQuery, context.req.query())
    if (!query.ok) return answerFailure(context, query.error)
    const listed = await listedSessions(workspaces, query.value.projectRoot)
    return listed.ok ? answerResult(context, listed) : answerFailure(context, listed.error)
  })
  routes.get('/session/:id', async (context) => {
    const param = SessionParam.safeParse(context.req.param())
    if (!param.success) return answerResult(context, noSuchSession())
    const { id } = param.data
    return answerResult(
      context,
      await inHeld(workspaces.holdFor(id), (held) => shownSession(held, id)),
    )
  })
  routes.delete('/session/:id', async (context) => {
    const param = SessionParam.safeParse(context.req.param())
    if (!param.success) return answerResult(context, noSuchSession())
    const { id } = param.data
    const deleted = await inHeld(workspaces.holdFor(id), async ({ workspace }) => {
      const gone = await workspace.harness.delete(id)
      return gone.ok ? ok({ deleted: id }) : gone
    })
    return answerResult(context, deleted)
  })
  routes.post('/session/:id/compact', async (context) => {
    const body = await jsonBody(context.req.raw, CompactBody)
    if (!body.ok) return answerFailure(context, body.error)
    const attaching = attachSession(parts, context.req.param('id'))
    const compacted = await inSession(attaching, ({ session }) =>
      compact(session, body.value.dryRun),
    )
    return answerResult(context, compacted)
  })
  return routes
}

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

async function shownSession(
  { path, workspace }: HeldWorkspace,
  id: Parameters<HeldWorkspace['workspace']['harness']['find']>[0],
): Promise<Result<{ readonly session: ApiSession }>> {
  const found = await workspace.harness.find(id)
  return found.ok ? ok({ session: apiSession(found.value, path) }) : found
}

/** A folder that was never used has no Sessions, which is not an error. */
async function listedSessions(
  workspaces: Workspaces,
  projectRoot: string,
): Promise<Result<{ readonly sessions: readonly ApiSession[] }>> {
  const listed = await inHeld(workspaces.hold(projectRoot), async ({ path, workspace }) => {
    const all = await workspace.harness.list()
    return ok({ sessions: all.map((one) => apiSession(one, path)) })
  })
  if (!listed.ok && causeOf(listed.error)?.type === 'never_used') return ok({ sessions: [] })
  return listed
}
