import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ok } from '../../../src/model/errors.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { rehearsalProvider } from '../../../src/providers/rehearsal/stream.ts'
import type { Session } from '../../../src/session/session.ts'
import type { Changes } from '../../support/session/harness-parts.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { value } from '../../support/log/story.ts'

const BEGIN = { provider: 'rehearsal', model: 'rehearsal' }

/** A model whose first answer waits for an act: then the Log is locked, its head was read, and the Turn has not ended. */
function interruptedModel() {
  const rehearsal = rehearsalProvider({ chunk: 16, delayMs: 0 })
  let waiting: (() => Promise<void>) | undefined
  const provider: Provider = {
    ...rehearsal,
    stream: async function* (body, signal) {
      const act = waiting
      waiting = undefined
      await act?.()
      yield* rehearsal.stream(body, signal)
    },
  }
  const changes: Changes = {
    model: { providerOf: async () => ok(provider), dialectOf: async () => ok(rehearsal) },
  }
  const turn = async (session: Session, act: () => Promise<void>): Promise<string> => {
    waiting = act
    const { done } = value(await session.admit('What is 2 + 2?'))
    return value(await done).status
  }
  return { changes, turn }
}

/** With a folder in its place, not even root can write the head. */
async function putFolderAt(head: string): Promise<void> {
  await rm(head)
  await mkdir(head)
  await writeFile(join(head, 'full'), '')
}

function noticesOf(session: Session): readonly string[] {
  return session.events.flatMap((e) =>
    e.type === 'notice' && e.data.code === 'head_not_written' ? [e.data.text] : [],
  )
}

test('a head that cannot be written is reported once with a next step, and is written when possible again', async () => {
  const { changes, turn } = interruptedModel()
  const { harness, root } = await harnessPlace(changes)
  const session = value(await harness.create(BEGIN))
  const head = join(root, 'home', 'heads', session.id)
  const before = await readFile(head)
  const block = () => putFolderAt(head)
  const unblock = () => rm(head, { recursive: true }).then(() => writeFile(head, before))
  expect(await turn(session, block)).toBe('completed')
  expect(noticesOf(session)).toMatchObject([expect.stringContaining(join(root, 'home', 'heads'))])
  await unblock()
  expect(await turn(session, block)).toBe('completed')
  expect(noticesOf(session)).toHaveLength(1)
  await unblock()
  expect(await turn(session, async () => {})).toBe('completed')
  expect(noticesOf(session)).toHaveLength(1)
  const { log } = value(await harness.verify(session.id, { requests: false }))
  const { seq } = JSON.parse(await readFile(head, 'utf8')) as { seq: number }
  expect([log.damage, seq]).toEqual([undefined, log.events - 1])
  expect(await turn(session, block)).toBe('completed')
  expect(noticesOf(session)).toHaveLength(2)
})

test('another version checks every line once and marks the head with its own schemas', async () => {
  const first = await harnessPlace()
  const session = value(await first.harness.create(BEGIN))
  const ended = async (one: Session) =>
    value(await value(await one.admit('What is 2 + 2?')).done).status
  expect(await ended(session)).toBe('completed')
  await session.close()
  const head = join(first.root, 'home', 'heads', session.id)
  const marks = [await markOf(head)]
  for (const schemas of ['newer', undefined, 'newer']) {
    const place = { ...first.parts.log.place, schemas }
    const { harness } = await harnessPlace({ log: { place } }, first.root)
    const resumed = value(await harness.open(session.id))
    expect(await ended(resumed)).toBe('completed')
    await resumed.close()
    const { log, requests } = value(await harness.verify(session.id, { requests: true }))
    expect([log.damage, log.unknown, requests?.mismatches]).toEqual([undefined, 0, []])
    marks.push(await markOf(head))
  }
  expect(marks).toEqual([first.parts.log.place.schemas, 'newer', undefined, 'newer'])
})

async function markOf(head: string): Promise<string | undefined> {
  return (JSON.parse(await readFile(head, 'utf8')) as { checked_with?: string }).checked_with
}
