import { definedFields } from '../../model/fields/defined-fields.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { AdmittedTurn } from '../../session/admission/admit-options.ts'
import type { SettingsChange } from '../../session/admission/settings-change.ts'
import { judgeModel } from '../../session/settings/model-choice.ts'
import { ofSession, route } from './exchange/route.ts'
import { attachSession, inSession, type AttachedSession } from './attached-session.ts'
import { InterruptBody, SteerBody, TURN_BYTES, TurnBody } from './protocol.ts'
import type { ServerParts } from './server-parts.ts'
import { followFromNow, turnResponse } from './turn-stream.ts'

/** Runs and interrupts Turns. */
export const TURN_ROUTES = [
  route('POST /api/harness/turn', {
    summary: 'Runs a Turn and streams its events; the last one is `process:exit`.',
    body: TurnBody,
    limit: TURN_BYTES,
    answer: 'events',
    handle: async (parts: ServerParts, { context, body }) => {
      const attached = await attachSession(parts, body.sessionId, { answers: true })
      if (!attached.ok) return ofSession(attached)
      const following = followFromNow(attached.value.session)
      const started = await startTurn(attached.value, body)
      if (!started.ok) {
        following.stop()
        await attached.value.leave()
        return started
      }
      return turnResponse(parts, context.req.raw.signal, {
        session: attached.value,
        following,
        ...started.value,
        onDisconnect: body.opts.onDisconnect,
      })
    },
  }),
  route('POST /api/harness/steer', {
    summary: 'Adds text to the running Turn, before its next request to the model.',
    body: SteerBody,
    limit: TURN_BYTES,
    answer: 'Steered',
    handle: async (parts: ServerParts, { body }) =>
      ofSession(
        await inSession(attachSession(parts, body.sessionId), async ({ session }) => {
          const { text, messageKey } = body
          if (messageKey !== undefined && parts.steeredKeys.has(messageKey))
            return ok({ steered: true })
          const steered = session.steer(text)
          if (steered && messageKey !== undefined) parts.steeredKeys.add(messageKey)
          return ok({ steered })
        }),
      ),
  }),
  route('POST /api/harness/interrupt', {
    summary: 'Interrupts the running Turn of a Session.',
    body: InterruptBody,
    answer: 'Interrupted',
    handle: async (parts: ServerParts, { body }) =>
      ofSession(await inSession(attachSession(parts, body.sessionId), interrupt)),
  }),
]

interface StartedTurn {
  readonly admission: AdmittedTurn
  readonly warning: string | undefined
}

/** Everything that can be refused is refused here, before the stream opens. */
export async function startTurn(
  { session, holding: { workspace } }: AttachedSession,
  { message, attachments, mentions, skills, opts, idempotencyKey }: TurnBody,
): Promise<Result<StartedTurn>> {
  const usable = await session.checkProvider()
  if (!usable.ok) return usable
  const { model, mode, permissionMode: permission_mode, effort, whenBusy } = opts
  const { appendInstructions: append_instructions } = opts
  const { provider } = session.state
  const judged =
    model === undefined ? ok(undefined) : judgeModel({ provider, model }, workspace.models())
  if (!judged.ok) return judged
  const settings: SettingsChange = {
    ...(model === undefined ? {} : { model: { provider, model } }),
    ...definedFields({ mode, permission_mode, effort, append_instructions }),
  }
  const admitted = await session.admit(message, {
    presenter: 'http',
    whenBusy,
    settings,
    attachments: attachments.map((path) => ({ from: 'path', path })),
    mentions: mentions.map((path) => ({ path })),
    skills,
    ...definedFields({ messageKey: idempotencyKey }),
  })
  return admitted.ok ? ok({ admission: admitted.value, warning: judged.value }) : admitted
}

/** A Turn of another process cannot be interrupted from here. */
async function interrupt({
  session,
  holding,
}: AttachedSession): Promise<Result<{ readonly interrupted: boolean }>> {
  const interrupted = session.busy
  session.interrupt()
  if (interrupted) return ok({ interrupted })
  const found = await holding.workspace.harness.find(session.id)
  if (!found.ok || !found.value.busy) return ok({ interrupted })
  return failed('session_busy', 'Another process runs the Turn of this Session.', {}, [
    { action: 'Interrupt it there.' },
  ])
}
