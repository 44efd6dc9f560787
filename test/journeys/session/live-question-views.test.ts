import { expect, onTestFinished, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import { startChild } from '../../faults/support/child.ts'
import { askingMessage, askingParts, prepare } from '../../support/session/asking-story.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { ASKING, QUESTION_MS } from '../../support/session/live-parts.ts'
import { livePlace } from '../../support/session/live-place.ts'
import { decisionsIn, everyQuestionDecided } from '../../support/session/question-check.ts'
import { say } from '../../support/resources/sample-files.ts'
import { value } from '../../support/log/story.ts'
import { virtualClock } from '../../support/host/virtual-clock.ts'
import { questionOf } from '../../support/session/watching.ts'

// The model calls a tool that asks by itself, whether bytes may be sent: the question is about an upload, in a call.

async function waiting() {
  const clock = virtualClock()
  const { harness } = await livePlace({ clock, changes: askingParts() })
  const client = value(await harness.create(ASKING, { answers: true }))
  const watcher = value(await harness.open(client.id))
  await prepare(client, 'view')
  const turn = value(await client.admit(askingMessage('view').text))
  const question = await questionOf(client)
  expect([question.subject.split(':')[0], question.call_id]).toEqual(['upload', expect.any(String)])
  return { client, watcher, clock, question, turn }
}

/** The decisions after the one that allowed the upload, and the outcomes of the views. */
function outcome({ events }: Session): [string[], string[]] {
  expect(everyQuestionDecided(events)).toEqual([])
  const results = events.flatMap((e) =>
    e.type === 'tool_result' && e.data.name === 'resource_view' ? [e.data.outcome] : [],
  )
  const [, ...later] = decisionsIn(events).map(({ by, decision }) => `${decision} by ${by}`)
  return [later, results]
}

test('a view that the model asks for is shown after a yes', async () => {
  const { client, watcher, question, turn } = await waiting()
  value(await client.answer(question.request_id, { choice: 1 }))
  expect(value(await turn.done).status).toBe('completed')
  expect(outcome(client)).toEqual([['allowed by person'], ['ok']])
  await Promise.all([client.close(), watcher.close()])
})

test('a view that the model asks for is denied if no one comes back', async () => {
  const { client, watcher, clock, turn } = await waiting()
  await client.detach()
  clock.advance(QUESTION_MS)
  expect(value(await turn.done).status).toBe('completed')
  expect(outcome(watcher)).toEqual([['denied by timeout'], ['denied']])
  await watcher.close()
})

test('a view that the model asks for ends with an interrupt', async () => {
  const { client, watcher, turn } = await waiting()
  watcher.interrupt()
  expect(value(await turn.done).status).toBe('interrupted')
  const [decisions, results] = outcome(client)
  expect(decisions).toEqual(['denied by interrupt'])
  expect(results).toHaveLength(1)
  await Promise.all([client.close(), watcher.close()])
})

test('a view that a killed process asked about is denied once', async () => {
  const { root, harness } = await livePlace({ changes: askingParts() })
  const script = await bundleScript(
    new URL('../../support/session/asking-child.ts', import.meta.url),
    await freshFolder(),
  )
  const child = startChild(script, { root, kind: 'view' })
  onTestFinished(async () => void (await child.kill()))
  const asked = await child.waitFor(({ what }) => what === 'opened')
  if (asked?.what !== 'opened') throw new Error((await child.ended).complaint)
  expect((await child.kill()).signal).toBe('SIGKILL')
  const session = value(await harness.open(asked.session))
  expect(await say(session, 'Thanks.')).toBe('completed')
  expect(outcome(session)).toEqual([['denied by interrupt'], ['denied']])
  await session.close()
})
