import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { value } from '../../support/log/story.ts'

const BEGIN = { provider: 'rehearsal', model: 'rehearsal' }

/** Runs a Turn and calls `meanwhile` when the model is called: the Log is locked and its head was read. */
async function turn(session: Session, meanwhile: () => Promise<void>): Promise<string> {
  const watching = session.subscribe()
  const { done } = value(await session.admit('What is 2 + 2?'))
  for await (const seen of watching) {
    if (seen.kind !== 'line' || seen.line.content.event.type !== 'provider_request') continue
    await meanwhile()
    break
  }
  return value(await done).status
}

/** With a folder in its place, not even root can write the head. The Turn may write it before the folder exists. */
async function putFolderAt(head: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    await rm(head, { recursive: true, force: true })
    const made = await mkdir(head).then(
      () => true,
      () => false,
    )
    if (made) return writeFile(join(head, 'full'), '')
  }
  throw new Error('the head was written again and again')
}

function noticesOf(session: Session): readonly string[] {
  return session.events.flatMap((e) =>
    e.type === 'notice' && e.data.code === 'head_not_written' ? [e.data.text] : [],
  )
}

test('a head that cannot be written is reported once with a next step, and is written when possible again', async () => {
  const { harness, root } = await harnessPlace()
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
  expect(await turn(session, async () => {})).toBe('completed')
  await session.close()
  const head = join(first.root, 'home', 'heads', session.id)
  const marks = [await markOf(head)]
  for (const schemas of ['newer', undefined, 'newer']) {
    const place = { ...first.parts.log.place, schemas }
    const { harness } = await harnessPlace({ log: { place } }, first.root)
    const resumed = value(await harness.open(session.id))
    expect(await turn(resumed, async () => {})).toBe('completed')
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
