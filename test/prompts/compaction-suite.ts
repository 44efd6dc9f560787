import { expect, test } from 'vitest'
import { predictBreak } from '../../src/request/predict.ts'
import { sharedPrefix } from '../../src/prompt/prefix.ts'
import { compactionsInForce, historyOf } from '../../src/history/history.ts'
import { stateBefore } from '../../src/history/resume-state.ts'
import { carriedBefore } from '../../src/context/carried-facts.ts'
import { readRequest } from '../../src/providers/rehearsal/schema.ts'
import { readChat } from '../../rehearse/src/chat.ts'
import { readMessages } from '../../rehearse/src/messages.ts'
import { ResponseStore } from '../../rehearse/src/response-store.ts'
import { readResponses } from '../../rehearse/src/responses.ts'
import { STRICT } from '../../rehearse/src/rules/leniency.ts'
import { buildPdf } from '../support/resources/build-pdf.ts'
import { DIALECT_NAMES, type DialectName } from '../support/providers/dialects.ts'
import {
  generatedRequests,
  type GeneratedRequest,
  type Mistake,
} from '../support/history/generated-requests.ts'
import { TINY_IMAGES } from '../support/resources/tiny-images.ts'

const STRICTLY = { factsOf: () => ({}), leniency: STRICT }

const PDF = buildPdf(['a page'])

/** Generated Logs have stand-ins for pictures and documents, which the server would refuse. */
const REAL_MEDIA: Mistake = {
  items: (items) =>
    items.map((item) => {
      if (!('parts' in item)) return item
      const parts = item.parts.map((part) => {
        if (part.type === 'text' || part.bytes === undefined) return part
        if (part.media_type === 'image/png') return { ...part, bytes: TINY_IMAGES.png }
        return part.media_type === 'application/pdf' ? { ...part, bytes: PDF } : part
      })
      return { ...item, parts }
    }),
}

/** Why the strict rehearsal server would refuse a body; `undefined` if it accepts it. */
async function refusalOf(dialect: DialectName, bytes: Buffer): Promise<string | undefined> {
  if (dialect === 'rehearsal') {
    const read = readRequest(bytes)
    return read.ok ? undefined : read.error.message
  }
  const body: unknown = JSON.parse(bytes.toString('utf8'))
  const read = await {
    messages: () => readMessages(body, STRICTLY),
    chat: () => readChat(body, STRICTLY),
    responses: () => readResponses(body, STRICTLY, new ResponseStore()),
  }[dialect]()
  return read.ok ? undefined : `${read.refusal.at?.join('.')} ${read.refusal.message}`
}

/** The strategy of the last compaction in force, if it is one of the planner. */
function strategyOf({ inputs }: GeneratedRequest): string | undefined {
  return compactionsInForce(inputs.events).at(-1)?.data.strategy
}

/** Judges planned compactions in Logs of this many seeds. */
export function compactionSuite(seeds: number): void {
  test.each(DIALECT_NAMES)(
    'every request after a planned compaction is accepted by the strict rehearsal server, in %s',
    async (dialect) => {
      const wrong: string[] = []
      const judged = { elide: 0, excerpts: 0 }
      for (let seed = 1; seed <= seeds; seed++) {
        for (const request of await generatedRequests(seed, { dialect, mistake: REAL_MEDIA })) {
          const strategy = strategyOf(request)
          if (strategy !== 'elide' && strategy !== 'excerpts') continue
          judged[strategy] += 1
          const refusal = await refusalOf(dialect, request.body)
          if (refusal !== undefined) wrong.push(`seed ${seed}: ${refusal}`)
        }
      }
      expect(wrong).toEqual([])
      expect(Math.min(judged.elide, judged.excerpts)).toBeGreaterThan(seeds / 3)
    },
  )

  test.each(DIALECT_NAMES)(
    'the break that a planned compaction causes is where the bytes differ, in %s',
    async (dialect) => {
      const wrong: string[] = []
      const breaks = { elide: 0, excerpts: 0 }
      // Often something else changed before the first result that is elided.
      for (let seed = 1; seed <= 2 * seeds; seed++) {
        const requests = await generatedRequests(seed, { dialect })
        for (const [at, next] of requests.entries()) {
          const before = requests[at - 1]
          if (before === undefined) continue
          const predicted = predictBreak(before.inputs, before.segments, next.inputs)
          if (predicted?.cause !== 'checkpoint') continue
          const { bytes } = sharedPrefix(before.segments, next.segments)
          if (bytes !== predicted.at) wrong.push(`seed ${seed}: ${predicted.at}, not ${bytes}`)
          breaks[strategyOf(next) === 'elide' ? 'elide' : 'excerpts'] += 1
        }
      }
      expect(wrong).toEqual([])
      expect(Math.min(breaks.elide, breaks.excerpts)).toBeGreaterThan(seeds / 10)
    },
  )

  test('a checkpoint has the state and the facts that its Events give, also without the Events before the checkpoint in force', async () => {
    let checkpoints = 0
    for (let seed = 1; seed <= seeds; seed++) {
      const events = (await generatedRequests(seed)).at(-1)?.inputs.events ?? []
      for (const [at, event] of events.entries()) {
        if (event.type !== 'history_compaction' || event.data.range === undefined) continue
        checkpoints += 1
        const { tail, state, carried } = event.data
        const all = events.slice(0, at)
        const { checkpoint } = historyOf(all)
        const known = all.filter(({ seq }) => seq >= (checkpoint?.data.tail.from_seq ?? 0))
        for (const list of [all, known]) {
          expect(stateBefore(list, tail.from_seq)).toEqual(state)
          expect(carriedBefore(list, tail.from_seq)).toEqual(carried)
        }
      }
    }
    expect(checkpoints).toBeGreaterThan(seeds / 5)
  })
}
