import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { Provider } from '../../../src/providers/provider.ts'
import { Harness } from '../../../src/session/harness.ts'
import type { Session } from '../../../src/session/session.ts'
import { openParts } from '../../support/session/harness-parts.ts'
import { value } from '../../support/log/story.ts'
import { vendorParts } from '../../support/providers/vendor-parts.ts'
import { measured } from './peak-memory.ts'
import { mapEvents } from './stream-cut-planted.ts'
import { emit } from '../../support/host/child-report.ts'

/** A child process that requests, in each Session, a correct answer, noise, and another correct answer. */

const Order = z.object({
  root: z.string(),
  key: z.string(),
  baseUrl: z.string(),
  dialect: z.enum(['messages', 'responses', 'chat']),
  /** One for each noise: the prompt that requests it, and the idle limit. */
  noises: z.array(z.object({ words: z.string(), idleMs: z.int() })),
  planted: z.enum(['hoard', 'reject']).optional(),
})

const IDLE_MS = 60_000

const order = Order.parse(JSON.parse(process.argv[2] ?? ''))
const { root, dialect } = order
/** During the noise. */
let noisyMs: number | undefined
const hoard: Buffer[] = []
const right = speaking(IDLE_MS)
const { parts, workspace, close } = await openParts(root, {
  ...right,
  model: {
    ...right.model,
    providerOf: async (name) => {
      const { model } = noisyMs === undefined ? right : speaking(noisyMs)
      const provider = await model.providerOf(name)
      return provider.ok ? { ok: true, value: withMistake(provider.value) } : provider
    },
  },
})
await writeFile(join(workspace, 'notes.txt'), 'rope\n')
const harness = new Harness(parts)
for (const { words, idleMs } of order.noises) {
  const chosen = { provider: dialect, model: 'a-model', permissionMode: 'auto' } as const
  const session = value(await harness.create(chosen))
  emit({ what: 'opened', session: session.id })
  // Code that is loaded once, and what the engine learns about it, does not count as growth.
  await say(session, 'Leg an.')
  noisyMs = idleMs
  emit({ what: 'memory', ...(await measured(() => say(session, words))) })
  noisyMs = undefined
  await say(session, 'Bist du noch da?')
  await session.close()
  await prove(session)
}
await close()
emit({ what: 'done' })

function speaking(idleMs: number) {
  const { key, baseUrl } = order
  return vendorParts({ key, baseUrl: () => baseUrl, retries: 0, idleMs })
}

async function say(session: Session, text: string): Promise<void> {
  const ended = value(await value(await session.admit(text)).done)
  const kind = ended.error === undefined ? {} : { kind: ended.error.kind }
  emit({ what: 'turn', status: ended.status, ...kind })
}

async function prove({ id }: Session): Promise<void> {
  const { log, requests } = value(await harness.verify(id, { requests: true }))
  if (log.damage !== undefined) emit({ what: 'unproven', text: log.damage.message })
  for (const { seq, what } of requests?.mismatches ?? []) {
    emit({ what: 'unproven', text: `request ${seq} has another ${what}` })
  }
}

function withMistake(provider: Provider): Provider {
  const { planted } = order
  if (planted === undefined || noisyMs === undefined) return provider
  return mapEvents(provider, (event) => {
    if (planted === 'hoard') hoard.push(Buffer.alloc(60_000_000, 1))
    else void Promise.reject(new Error('nobody looks'))
    return event
  })
}
