import { expect, test } from 'vitest'
import { KEY_PLACEHOLDER } from '../../../src/encoding/redaction.ts'
import { ok } from '../../../src/model/errors.ts'
import { rehearsalProvider } from '../../../src/providers/rehearsal/stream.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { ASKING } from '../../support/session/live-parts.ts'
import { livePlace } from '../../support/session/live-place.ts'
import { decisionsIn, everyQuestionDecided } from '../../support/session/question-check.ts'
import { value } from '../../support/log/story.ts'
import { questionOf, Watching } from '../../support/session/watching.ts'

/** A model whose call ids contain a key. */
function leakingProvider() {
  const base = rehearsalProvider({ chunk: 16, delayMs: 0 })
  const provider: typeof base = {
    ...base,
    stream: async function* (body, signal) {
      for await (const event of base.stream(body, signal)) {
        const isCall = event.type === 'item' && event.item.kind === 'tool_call'
        yield isCall ? { ...event, item: { ...event.item, call_id: `call-${CANARY_KEY}` } } : event
      }
    },
  }
  return provider
}

test('an answer is acknowledged although a key is redacted in what it is about, and shows none', async () => {
  const provider = leakingProvider()
  const { harness } = await livePlace({
    changes: { log: { secrets: [CANARY_KEY] }, model: { providerOf: async () => ok(provider) } },
  })
  const client = value(await harness.create(ASKING, { answers: true }))
  const seen = new Watching(client)
  const heard: unknown[] = []
  client.openQuestions.listen((change) => void heard.push(change))
  const { done } = value(await client.admit('Write "a" to a.txt'))
  const { request_id, choices } = await questionOf(client)
  const no = choices.length
  value(await client.answer(request_id, { choice: no, text: `not ${CANARY_KEY}` }))
  expect(value(await done).status).toBe('completed')
  expect(everyQuestionDecided(client.events)).toEqual([])
  expect(decisionsIn(client.events)).toMatchObject([{ reason: `not ${KEY_PLACEHOLDER}` }])
  await seen.untilSeq(client.nextSeq - 1)
  expect(seen.settled).toMatchObject([{ reason: `not ${KEY_PLACEHOLDER}` }])
  expect(JSON.stringify([seen.updates, heard])).not.toContain(CANARY_KEY)
  await seen.stop()
  await client.close()
})
