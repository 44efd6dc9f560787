import * as z from 'zod'
import { counted, grouped } from '../../../encoding/amounts.ts'
import { ok, type Failed, type Result } from '../../../model/errors.ts'
import { SessionId } from '../../../model/ids.ts'
import { LIMITS } from '../../../model/limits.ts'
import { Count } from '../../../model/shape.ts'
import type { Harness } from '../../../session/harness.ts'
import type { Session } from '../../../session/live/session.ts'
import { openNamed } from '../../../session/workspace/session-reference.ts'
import { visibleText } from '../text/visible-text.ts'
import { answer } from '../world/answer.ts'
import type { CommandInput } from '../world/command.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { CliWorld } from '../world/world.ts'

const PinArgs = z.object({
  args: z.tuple([z.string().optional(), z.array(z.string())]),
  options: z.object({ json: z.boolean().default(false) }),
})

export const Output = z.object({
  ok: z.literal(true),
  session_id: SessionId,
  text: z.string().optional().describe('The text that was pinned.'),
  pinned: z.array(z.string()).describe('All pinned texts, the oldest first.'),
  bytes: Count.describe('Their size in UTF-8.'),
  limit: Count.describe('The largest size that is accepted.'),
})

/** Pins text that every checkpoint of a Session keeps verbatim, or lists such texts. */
export async function run(world: CliWorld, commandInput: CommandInput): Promise<number> {
  const {
    args: [named, words],
    options: { json },
  } = PinArgs.parse(commandInput)
  return inWorkspace(world, commandInput, async ({ harness }) => {
    const session = await openNamed(harness, named)
    if (!session.ok) return words.length === 0 ? withUsage(session) : session
    const text = words.length === 0 ? undefined : words.join(' ').toWellFormed()
    const pins = await pinsAfter(harness, session.value, text)
    if (!pins.ok) return pins
    const print = text === undefined ? listWords : pinnedWords
    return ok(answer(world, json, pins.value, () => print(pins.value)))
  })
}

type Pins = Omit<z.infer<typeof Output>, 'ok'>

/** The pinned texts, after pinning `text` if it is given. */
async function pinsAfter(
  harness: Harness,
  session: Session,
  text: string | undefined,
): Promise<Result<Pins>> {
  if (text !== undefined) {
    const done = await harness.pin(session, text)
    if (!done.ok) return done.error.kind === 'too_large' ? withList(done, session) : done
  }
  const pinned = [...(await harness.pinned(session))]
  const bytes = pinned.reduce((sum, one) => sum + Buffer.byteLength(one), 0)
  const limit = LIMITS.pinned_text_bytes
  return ok({
    session_id: session.id,
    ...(text === undefined ? {} : { text }),
    pinned,
    bytes,
    limit,
  })
}

/** A text without a Session before it looks like a Session that does not exist. */
function withUsage(failure: Failed): Failed {
  const { kind, next_actions } = failure.error
  if (kind !== 'invalid_args') return failure
  const next = { action: 'Pin text in the latest Session.', command: 'hawser pin latest TEXT' }
  return { ok: false, error: { ...failure.error, next_actions: [next, ...next_actions] } }
}

function withList({ error }: Failed, { id }: Session): Failed {
  const next = { action: 'List the pinned texts.', command: `hawser pin ${id}` }
  return { ok: false, error: { ...error, next_actions: [...error.next_actions, next] } }
}

function pinnedWords(pins: Pins): string {
  return `Pinned in ${pins.session_id}.\nEvery checkpoint keeps this text verbatim. ${used(pins)}\n`
}

function listWords(pins: Pins): string {
  const { session_id, pinned } = pins
  if (pinned.length === 0)
    return `${session_id} has no pinned text. To pin one: hawser pin ${session_id} TEXT\n`
  const lines = pinned.flatMap((text) => visibleText(text).split('\n').map(listed))
  return [...lines, used(pins), ''].join('\n')
}

function listed(line: string, at: number): string {
  return `${at === 0 ? '- ' : '  '}${line}`
}

function used({ pinned, bytes, limit }: Pins): string {
  const texts = counted(pinned.length, 'pinned text')
  return `${texts}, ${grouped(bytes)} of ${counted(limit, 'byte')}.`
}
