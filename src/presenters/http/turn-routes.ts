import { Hono } from 'hono'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { AdmittedTurn } from '../../session/admission/admit-options.ts'
import type { SettingsChange } from '../../session/admission/settings-change.ts'
import { judgeModel } from '../../session/settings/model-choice.ts'
import { answerFailure, answerResult, type RequestVariables } from './exchange/answer.ts'
import { attachSession, inSession, type AttachedSession } from './attached-session.ts'
import { InterruptBody, TURN_BYTES, TurnBody } from './protocol.ts'
import { jsonBody } from './exchange/request-body.ts'
import type { ServerParts } from './server-parts.ts'
import { followFromNow, turnResponse } from './turn-stream.ts'

/** Runs and interrupts Turns. */
export function turnRoutes(parts: ServerParts): Hono<RequestVariables> {
  const routes = new Hono<RequestVariables>()
  routes.post('/turn', async (context) => {
    const body = await jsonBody(context.req.raw, TurnBody, TURN_BYTES)
    if (!body.ok) return answerFailure(context, body.error)
    const attached = await attachSession(parts, body.value.sessionId, { answers: true })
    if (!attached.ok) return answerResult(context, attached)
    const following = followFromNow(attached.value.session)
    const started = await startTurn(attached.value, body.value)
    if (!started.ok) {
      following.stop()
      await attached.value.leave()
      return answerFailure(context, started.error)
    }
    return turnResponse(parts, context.req.raw.signal, {
      attached: attached.value,
      following,
      ...started.value,
      onDisconnect: body.value.opts.onDisconnect,
    })
  })
  routes.post('/interrupt', async (context) => {
    const body = await jsonBody(context.req.raw, InterruptBody)
    if (!body.ok) return answerFailure(context, body.error)
    const attaching = attachSession(parts, body.value.sessionId)
    return answerResult(context, await inSession(attaching, interrupt))
  })
  return routes
}

interface StartedTurn {
  readonly admitted: AdmittedTurn
  readonly warning: string | undefined
}

/** Everything that can be refused is refused here, before the stream opens. */
async function startTurn(
  { session, held: { workspace } }: AttachedSession,
  { message, attachments, mentions, skills, opts, idempotencyKey }: TurnBody,
): Promise<Result<StartedTurn>> {
  const usable = await session.checkProvider()
  if (!usable.ok) return usable
  const { model, permissionMode: permission_mode, whenBusy } = opts
  const { provider } = session.state
  const judged =
    model === undefined ? ok(undefined) : judgeModel({ provider, model }, workspace.models())
  if (!judged.ok) return judged
  const settings: SettingsChange = {
    ...(model === undefined ? {} : { model: { provider, model } }),
    ...(permission_mode === undefined ? {} : { permission_mode }),
  }
  const admitted = await session.admit(message, {
    presenter: 'http',
    whenBusy,
    settings,
    attachments: attachments.map((path) => ({ from: 'path', path })),
    mentions: mentions.map((path) => ({ path })),
    skills,
    ...(idempotencyKey === undefined ? {} : { messageKey: idempotencyKey }),
  })
  return admitted.ok ? ok({ admitted: admitted.value, warning: judged.value }) : admitted
}

/** A Turn of another process cannot be interrupted from here. */
async function interrupt({
  session,
  held,
}: AttachedSession): Promise<Result<{ readonly interrupted: boolean }>> {
  const interrupted = session.busy
  session.interrupt()
  if (interrupted) return ok({ interrupted })
  const found = await held.workspace.harness.find(session.id)
  if (!found.ok || !found.value.busy) return ok({ interrupted })
  return failed('session_busy', 'Another process runs the Turn of this Session.', {}, [
    { action: 'Interrupt it there.' },
  ])
}
