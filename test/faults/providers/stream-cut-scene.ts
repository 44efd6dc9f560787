import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import type { SessionId, TurnId } from '../../../src/model/ids.ts'
import { Harness } from '../../../src/session/harness.ts'
import type { ReadEvent } from '../../../src/session/reading/read-log.ts'
import type { Session } from '../../../src/session/session.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { openParts, withClock } from '../../support/session/harness-parts.ts'
import { immediateClock } from '../../support/log/log-place.ts'
import { value } from '../../support/log/story.ts'
import { sseOf } from '../../support/providers/vendor-answer.ts'
import { vendorParts } from '../../support/providers/vendor-parts.ts'
import { scriptedServer, type ScriptedAnswer } from '../../support/providers/vendor-server.ts'
import type { CutAnswer } from './stream-cut-answer.ts'
import {
  LAST_WORDS,
  type Cut,
  type Evidence,
  type SeenTurn,
  type Shown,
} from './stream-cut-judge.ts'

export interface CutScene {
  /** One Session: a Turn for each cut, and another after every few of them; `wrong` lists what its Log cannot prove. */
  session(cuts: readonly Cut[]): Promise<{ turns: Evidence[]; wrong: string[] }>
  /** Errors in requests. */
  close(): Promise<readonly string[]>
}

export interface CutSceneOptions {
  readonly answer: CutAnswer
  readonly retries: number
  /** After this many cuts comes a Turn with a complete answer. */
  readonly wholeAfter: number
  readonly planted?: ((provider: Provider) => Provider) | undefined
}

/** Far more than any machine needs for an answer that arrives. */
const IDLE_MS = 60_000
/** Present from the beginning, for the call that only reads. */
const READ_FILE = 'notes.txt'

/** A workspace whose model is a server that cuts its answers; everything else is real. */
export async function openCutScene(root: string, options: CutSceneOptions): Promise<CutScene> {
  const { answer, retries, wholeAfter, planted = (provider: Provider) => provider } = options
  const { dialect } = answer
  const last: ScriptedAnswer = { body: sseOf(dialect, { text: LAST_WORDS }) }
  let first: ScriptedAnswer | undefined
  const server = await scriptedServer(() => {
    const now = first ?? last
    first = undefined
    return now
  })
  const vendors = vendorParts({
    key: CANARY_KEY,
    baseUrl: (name) => server.baseUrl(name),
    retries,
    idleMs: IDLE_MS,
  })
  const { parts, workspace, close } = await openParts(root, {
    ...vendors,
    model: {
      ...vendors.model,
      providerOf: async (name) => {
        const provider = await vendors.model.providerOf(name)
        return provider.ok ? { ok: true, value: planted(provider.value) } : provider
      },
    },
  })
  const harness = new Harness(withClock(parts, immediateClock))
  await writeFile(join(workspace, READ_FILE), 'rope\n')

  const say = async (session: Session, words: string): Promise<ObservedTurn> => {
    const { turn, shown } = await watched(session, words)
    return { turn, shown, files: await takeFiles(workspace) }
  }

  return {
    session: async (cuts) => {
      const chosen = { provider: dialect, model: 'a-model', permissionMode: 'auto' } as const
      const session = value(await harness.create(chosen))
      const observed: {
        readonly cut: Cut
        readonly turn: ObservedTurn
        readonly next?: ObservedTurn
      }[] = []
      for (const [i, cut] of cuts.entries()) {
        first = cutTo(answer.bytes, cut)
        const turn = await say(session, 'Leg an.')
        const due = (i + 1) % wholeAfter === 0 || i + 1 === cuts.length
        observed.push({ cut, turn, ...(due ? { next: await say(session, 'Und jetzt?') } : {}) })
      }
      await session.close()
      const kept = await eventsByTurn(harness, session.id)
      const seen = ({ turn, shown, files }: ObservedTurn): SeenTurn => {
        return { shown, files, events: kept.get(turn) ?? [] }
      }
      return {
        turns: observed.map(({ cut, turn, next }) => {
          const after = next === undefined ? {} : { next: seen(next) }
          return { answer, cut, turn: seen(turn), ...after }
        }),
        wrong: await unproven(harness, session.id),
      }
    },
    close: async () => {
      await close()
      await server.close().catch(() => {})
      return server.violations
    },
  }
}

type ObservedTurn = Omit<SeenTurn, 'events'> & { readonly turn: TurnId }

/** From the Log on disk. */
async function eventsByTurn(harness: Harness, id: SessionId) {
  const kept = new Map<TurnId, WholeEvent[]>()
  const take = ({ event }: ReadEvent) => {
    if (event?.turn_id === undefined) return
    kept.set(event.turn_id, [...(kept.get(event.turn_id) ?? []), event])
  }
  value(await harness.read(id, {}, take))
  return kept
}

async function unproven(harness: Harness, id: SessionId): Promise<string[]> {
  const { log, requests } = value(await harness.verify(id, { requests: true }))
  const mismatches = requests?.mismatches ?? []
  return [
    ...(log.damage === undefined ? [] : [`the Log is damaged: ${log.damage.message}`]),
    ...mismatches.map(({ seq, what }) => `request ${seq} has another ${what}`),
  ]
}

function cutTo(bytes: Buffer, { bytes: count, how }: Cut): ScriptedAnswer {
  return how === 'broken' ? { body: bytes, cutAfter: count } : { body: bytes.subarray(0, count) }
}

/** Sends a message and watches until the Turn has ended. */
async function watched(session: Session, words: string) {
  const { turn, done } = value(await session.admit(words))
  // Nothing of the Turn was announced yet: its first request must be durable before that. A watcher from
  // before would poll for changes by other processes, of which there are none.
  const watching = session.subscribe()
  const shown: Shown[] = []
  for await (const seen of watching) {
    if (seen.kind === 'resync') throw new Error('too slow to watch')
    const now = shown.at(-1)
    if (seen.kind === 'line') {
      const { type } = seen.line.content.event
      if (type === 'turn_ended') break
      if (type === 'provider_request') shown.push({ text: '', reasoning: '' })
    } else if (now === undefined) throw new Error('an answer before any request')
    else if (seen.ephemeral.type === 'text_delta') now.text += seen.ephemeral.data.text
    else if (seen.ephemeral.type === 'reasoning_delta') now.reasoning += seen.ephemeral.data.text
  }
  await done
  return { turn, shown }
}

/** Files written to the workspace. They are removed, so that the next ones are noticed too. */
async function takeFiles(workspace: string): Promise<Record<string, string>> {
  const names = (await readdir(workspace)).filter(
    (name) => name !== '.hawser' && name !== READ_FILE,
  )
  const files: Record<string, string> = {}
  for (const name of names) {
    files[name] = await readFile(join(workspace, name), 'utf8')
    await rm(join(workspace, name))
  }
  return files
}
