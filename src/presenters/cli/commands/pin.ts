import * as z from 'zod'
import { failed, ok, type Failed, type Result } from '../../../model/errors.ts'
import { SessionId } from '../../../model/ids.ts'
import { LIMITS } from '../../../model/limits.ts'
import { Count } from '../../../model/shape.ts'
import { definedFields } from '../../../model/fields/defined-fields.ts'
import type { Harness } from '../../../session/harness.ts'
import type { Session } from '../../../session/session.ts'
import { namesSession, openNamed } from '../../../session/workspace/session-reference.ts'
import { wholeNumber } from '../input/whole-number.ts'
import { pinLines, pinsUsed } from '../render/pin-lines.ts'
import { answer } from '../world/answer.ts'
import type { CommandInput, Run } from '../world/command.ts'
import type { PIN } from '../definitions/sessions.ts'
import { inWorkspace } from '../world/workspace.ts'

export const Output = z.object({
  ok: z.literal(true),
  session_id: SessionId,
  text: z.string().optional().describe('The text that was pinned.'),
  removed: z.string().optional().describe('The text whose pin was removed.'),
  pinned: z
    .array(z.string())
    .describe('All pinned texts, the oldest first. Their numbers count from 1.'),
  bytes: Count.describe('Their size in UTF-8.'),
  limit: Count.describe('The largest size that is accepted.'),
})

/** Pins text that the model sees verbatim in every request, removes such a pin, or lists them. */
export const run: Run<typeof PIN> = async (world, input) =>
  inWorkspace(world, input.options, async ({ harness }) => {
    const request = await requestOf(harness, input)
    if (!request.ok) return request
    const session = await openNamed(harness, request.value.session)
    if (!session.ok) return session
    const pins = await pinsAfter(session.value, request.value)
    if (!pins.ok) return pins
    return answer(world, pins.value, () => words(pins.value))
  })

interface PinRequest {
  readonly session: string | undefined
  readonly text?: string
  readonly remove?: number
}

/** A single argument that names no Session is the text. */
async function requestOf(
  harness: Harness,
  { args, options }: CommandInput<typeof PIN>,
): Promise<Result<PinRequest>> {
  const [first, rest] = args
  const isText = first !== undefined && rest.length === 0 && !(await namesSession(harness, first))
  const session = isText ? undefined : first
  const typed = isText ? [first] : rest
  if (options.remove === undefined)
    return ok(typed.length === 0 ? { session } : { session, text: typed.join(' ').toWellFormed() })
  if (typed.length > 0)
    return failed('invalid_args', '--remove takes the number of a pin and no text.', {}, [
      { action: 'Remove a pin.', command: 'hawser pin SESSION --remove N' },
    ])
  const remove = wholeNumber(options.remove, '--remove', LIMITS.pinned_text_bytes)
  return remove.ok ? ok({ session, remove: remove.value ?? 0 }) : remove
}

type Pins = Omit<z.infer<typeof Output>, 'ok'>

async function pinsAfter(session: Session, { text, remove }: PinRequest): Promise<Result<Pins>> {
  if (text !== undefined) {
    const done = await session.pin(text)
    if (!done.ok) return done.error.kind === 'too_large' ? withList(done, session) : done
  }
  const removed = remove === undefined ? undefined : await session.unpin(remove)
  if (removed?.ok === false) return removed
  const pinned = [...(await session.pinnedTexts())]
  const bytes = pinned.reduce((sum, one) => sum + Buffer.byteLength(one), 0)
  const limit = LIMITS.pinned_text_bytes
  return ok({
    session_id: session.id,
    ...definedFields({ text, removed: removed?.value }),
    pinned,
    bytes,
    limit,
  })
}

function withList({ error }: Failed, { id }: Session): Failed {
  const next = [
    { action: 'List the pinned texts.', command: `hawser pin ${id}` },
    { action: 'Remove one.', command: `hawser pin ${id} --remove N` },
  ]
  return { ok: false, error: { ...error, next_actions: [...error.next_actions, ...next] } }
}

function words(pins: Pins): string {
  const { session_id, text, removed, pinned } = pins
  if (text !== undefined)
    return `Pinned in ${session_id}.\nThe model sees this text word for word in every request. ${pinsUsed(pinned)}\n`
  if (removed !== undefined)
    return `Removed a pin of ${session_id}.\nThe next summary omits this text. ${pinsUsed(pinned)}\n`
  if (pinned.length === 0)
    return `${session_id} has no pinned text. To pin one: hawser pin ${session_id} TEXT\n`
  return [...pinLines(pinned), `To remove one: hawser pin ${session_id} --remove N`, ''].join('\n')
}
