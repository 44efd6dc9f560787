import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../src/host/clock.ts'
import { failed, ok } from '../../src/model/errors.ts'
import { chatProvider } from '../../src/providers/chat/stream.ts'
import { messagesProvider } from '../../src/providers/messages/stream.ts'
import type { Provider, ProviderEvent } from '../../src/providers/provider.ts'
import { rehearsalProvider } from '../../src/providers/rehearsal/stream.ts'
import { rememberedDescriptions } from '../../rehearse/src/media-check.ts'
import { responsesProvider } from '../../src/providers/responses/stream.ts'
import { describe } from '../../src/resources/describe.ts'
import type { Session } from '../../src/session/session.ts'
import { AskedHarness } from '../support/session/asked-harness.ts'
import { CANARY_KEY } from '../support/host/canary.ts'
import { DIALECTS, type DialectName } from '../support/providers/dialects.ts'
import { openParts } from '../support/session/harness-parts.ts'
import { value } from '../support/log/story.ts'
import { strictServer } from '../support/providers/strict-server.ts'
import { TINY_IMAGES } from '../support/resources/tiny-images.ts'

/** The end of a story: the Session, and the folder of its workspace and its home. */
export interface FinishedStory {
  readonly session: Session['id']
  readonly root: string
}

/**
 * A Session in one dialect with everything that a Log of this version can contain of a conversation: attachments, a view, tool
 * calls that a person allowed and denied, an undo, a truncated answer, text that steered a Turn, and a Turn that a
 * crash ended and the next writer closed.
 */
export async function sessionStory(root: string, dialect: DialectName): Promise<FinishedStory> {
  const before = join(root, 'before-the-crash')
  const after = join(root, 'after-the-crash')
  const served = value(await strictServer())
  try {
    const session = await untilTheCrash({ root: before, dialect, origin: served.origin }, after)
    await afterTheCrash({ root: after, dialect, origin: served.origin }, session)
    return { session, root: after }
  } finally {
    await served.close()
  }
}

interface Stage {
  readonly root: string
  readonly dialect: DialectName
  /** Address of the model's server, in the dialects that have one. */
  readonly origin: string
}

async function untilTheCrash(stage: Stage, copy: string): Promise<Session['id']> {
  const { harness, workspace, model, close } = await openStage(stage)
  await writeFile(join(workspace, 'notes.txt'), 'rope\nsail\n')
  await writeFile(join(workspace, 'harbour.png'), TINY_IMAGES.png)
  await writeFile(join(workspace, 'crew.txt'), 'Jan\nPiet\n')
  const session = value(
    await harness.create({ provider: stage.dialect, model: 'rehearsal', permissionMode: 'ask' }),
  )
  const attachments = ['harbour.png', 'crew.txt'].map(
    (name) => ({ from: 'path', path: join(workspace, name) }) as const,
  )
  await say(session, 'What do you see?', { attachments })
  await say(session, 'Look at @img1')
  await say(session, 'Write "one" to a.txt')
  value(await session.undo())
  await say(session, 'Write "two" to b.txt')
  model.cutNext()
  await say(session, 'What can you do?')
  const steered = value(await session.admit('List all files'))
  session.steer('Read notes.txt')
  value(await steered.done)
  await crash(session, model, stage, copy)
  await session.close()
  await close()
  return session.id
}

async function afterTheCrash(stage: Stage, id: Session['id']): Promise<void> {
  const { harness, close } = await openStage(stage)
  const session = value(await harness.open(id))
  await say(session, 'What is 2 + 2?')
  await session.close()
  await close()
}

/** The files on disk while a Turn waits for its model are those that a crash leaves. */
async function crash(session: Session, model: StoryModel, stage: Stage, copy: string): Promise<void> {
  const { called, answer } = model.holdNext()
  const { done } = value(await session.admit('Read notes.txt'))
  await called
  await cp(stage.root, copy, { recursive: true })
  answer()
  value(await done)
}

async function say(
  session: Session,
  text: string,
  options: Parameters<Session['admit']>[1] = {},
): Promise<void> {
  const ended = value(await value(await session.admit(text, options)).done)
  if (ended.error !== undefined) throw new Error(`${text}: ${JSON.stringify(ended)}`)
}

async function openStage({ root, dialect, origin }: Stage) {
  await mkdir(root, { recursive: true })
  const model = storyModel(providerOf(dialect, origin))
  let questions = 0
  const { workspace, parts, close } = await openParts(root, {
    model: {
      providerOf: async (name) =>
        name === dialect ? ok(model.provider) : failed('not_configured', `There is no ${name}.`),
      dialectOf: async () => ok(DIALECTS[dialect]),
      dialectNameOf: () => dialect,
    },
    log: { secrets: [CANARY_KEY] },
    person: {
      ask: async () => {
        questions += 1
        return { allowed: questions === 1, scope: 'once' }
      },
    },
  })
  return { harness: new AskedHarness(parts), workspace, model, close }
}

function providerOf(dialect: DialectName, origin: string): Provider {
  const options = { key: CANARY_KEY, idleMs: 60_000, clock: systemClock }
  switch (dialect) {
    case 'rehearsal':
      return rehearsalProvider({ chunk: 64, delayMs: 0, describe: rememberedDescriptions(describe) })
    case 'messages':
      return messagesProvider({ ...options, baseUrl: origin })
    case 'responses':
      return responsesProvider({ ...options, baseUrl: `${origin}/v1`, transport: 'http-sse' })
    case 'chat':
      return chatProvider({ ...options, baseUrl: `${origin}/v1` })
  }
}

/** A provider whose next answer can be made to end early or to wait. */
interface StoryModel {
  readonly provider: Provider
  readonly cutNext: () => void
  readonly holdNext: () => { readonly called: Promise<void>; readonly answer: () => void }
}

function storyModel({ delivery: _one, ...provider }: Provider): StoryModel {
  let cut = false
  let held: { readonly reached: () => void; readonly released: Promise<void> } | undefined
  return {
    provider: {
      ...provider,
      stream: async function* (body, signal) {
        const [cutNow, heldNow] = [cut, held]
        cut = false
        held = undefined
        heldNow?.reached()
        await heldNow?.released
        yield* cutNow ? half() : provider.stream(body, signal)
      },
    },
    cutNext: () => {
      cut = true
    },
    holdNext: () => {
      let reached = () => {}
      let answer = () => {}
      const called = new Promise<void>((resolve) => (reached = resolve))
      const released = new Promise<void>((resolve) => (answer = resolve))
      held = { reached, released }
      return { called, answer }
    },
  }
}

async function* half(): AsyncGenerator<ProviderEvent, void, void> {
  yield { type: 'text_delta', text: 'I can read, and' }
  yield { type: 'item', item: { kind: 'text', text: 'I can read, and' } }
  yield {
    type: 'done',
    stop_reason: 'max_tokens',
    cut: { reason: 'output_limit', lost_calls: 1 },
    usage: { input: 100, cached_read: 0, cache_write: 0, output: 8, reasoning: 0 },
  }
}
