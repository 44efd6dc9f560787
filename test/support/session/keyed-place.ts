import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ok } from '../../../src/model/errors.ts'
import type { ProviderEvent } from '../../../src/providers/provider.ts'
import { rehearsalProvider } from '../../../src/providers/rehearsal/stream.ts'
import type { Session } from '../../../src/session/session.ts'
import { CANARY_KEY, CANARY_PARTS } from '../host/canary.ts'
import { withChanges, type Changes } from './harness-parts.ts'
import { harnessPlace, type HarnessPlace } from './harness-place.ts'

/** A workspace with a key in a file, a harness that uses this key, and a model whose answers the test sets. */
export interface KeyedPlace extends HarnessPlace {
  readonly root: string
  /** The next answers of the model; each list is one answer. */
  readonly answers: ProviderEvent[][]
  /** The bodies of all requests. */
  readonly requests: string[]
}

export const ENV_FILE = `A=1\nKEY=${CANARY_KEY}\nB=2\n`

export async function keyedPlace(changes: Changes = {}): Promise<KeyedPlace> {
  const answers: ProviderEvent[][] = []
  const requests: string[] = []
  const base = rehearsalProvider({ chunk: 16, delayMs: 0 })
  const provider: typeof base = {
    ...base,
    stream: async function* (body) {
      requests.push(body.toString('utf8'))
      yield* answers.shift() ?? textAnswer('Done.')
    },
  }
  const keyed = {
    model: { providerOf: async () => ok(provider), dialectOf: async () => ok(base) },
    log: { secrets: [CANARY_KEY] },
  }
  const place = await harnessPlace(withChanges(keyed, changes))
  // The user's file and the attachments contain the key, and a run fails if it leaves the key anywhere.
  onTestFinished(() => rm(place.root, { recursive: true, force: true }))
  await writeFile(join(place.workspace, '.env'), ENV_FILE)
  return { ...place, answers, requests }
}

const DONE: ProviderEvent = {
  type: 'done',
  stop_reason: 'end_turn',
  usage: { input: 1, cached_read: 0, cache_write: 0, output: 1, reasoning: 0 },
}

/** A text answer, streamed in these pieces. */
export function textAnswer(...pieces: readonly string[]): ProviderEvent[] {
  const deltas = pieces.map((text): ProviderEvent => ({ type: 'text_delta', text }))
  return [...deltas, { type: 'item', item: { kind: 'text', text: pieces.join('') } }, DONE]
}

let calls = 0

/** An answer that calls one tool. */
export function callAnswer(name: string, args: object): ProviderEvent[] {
  calls += 1
  const call = { call_id: `c${calls}`, name, arguments: JSON.stringify(args) }
  return [{ type: 'item', item: { kind: 'tool_call', ...call } }, DONE]
}

/** Collects the text of all notices until the end of the test. */
export function watchNotices(session: Session): { readonly text: () => string } {
  const subscription = session.subscribe()
  const seen: string[] = []
  void (async () => {
    for await (const one of subscription) {
      if (one.kind === 'ephemeral' && 'text' in one.ephemeral.data)
        seen.push(one.ephemeral.data.text)
    }
  })()
  onTestFinished(() => subscription.close())
  return { text: () => seen.join('') }
}

/** Names of the files below a folder that contain a part of the key that reveals it. */
export async function filesWithKey(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found: string[] = []
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name)
    if (revealsKey(await readFile(path, 'latin1'))) found.push(entry.name)
  }
  return found.toSorted()
}

export function revealsKey(text: string): boolean {
  return CANARY_PARTS.some((part) => text.includes(part))
}
