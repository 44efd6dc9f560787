import { expect, test } from 'vitest'
import type { EventDraft } from '../../src/model/events/event.ts'
import { TurnId, type SessionId } from '../../src/model/ids.ts'
import { freshFolder } from '../support/host/folder.ts'
import { BUILT_APP } from '../support/http/built-app.ts'
import { localServer } from '../support/http/local-server.ts'
import { newSession } from '../support/http/stream-client.ts'
import { writeLog } from '../support/session/write-log.ts'
import { readdir, readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { join } from 'node:path'
import { appTab, composer, connected, useBrowser } from './app-tab.ts'

useBrowser()

const KIB = 1024

test('the first load has at most 250 KB, and the highlighter and the diff view are not in it', async () => {
  const page = await readFile(join(BUILT_APP, 'index.html'), 'utf8')
  const assets = await readdir(join(BUILT_APP, 'assets'))
  const first = assets.filter((name) => page.includes(name))
  const sizes = await Promise.all(
    first.map(async (name) => gzipSync(await readFile(join(BUILT_APP, 'assets', name))).length),
  )
  const total = sizes.reduce((sum, size) => sum + size, gzipSync(page).length)
  console.log(JSON.stringify({ test: 'first load', gzip_kb: Math.round(total / KIB) }))
  expect(total).toBeLessThanOrEqual(250 * KIB)
  expect(first.filter((name) => /highlight|diff/.test(name))).toEqual([])
  expect(page).not.toMatch(/https?:\/\//)
})

const START: EventDraft = {
  type: 'session_started',
  data: {
    workspace: '/w',
    provider: 'rehearsal',
    model: 'rehearsal',
    mode: 'build',
    permission_mode: 'ask',
    presenter: 'cli',
    harness_version: '0',
  },
}

/** A Turn of four Events. */
function turnEvents(number: number): EventDraft[] {
  const turn_id = TurnId.parse(`trn_01kg8m2q3r4s5t6v7w8x${String(number).padStart(6, '0')}`)
  const text = `Answer ${number}. The harbour opens at six, and closes at nine.\n\n- one\n- two\n`
  return [
    { type: 'turn_started', data: { source: { presenter: 'cli' } }, turn_id },
    { type: 'user_message', data: { text: `Message ${number}`, prompt_mode: 'string' }, turn_id },
    { type: 'assistant_message', data: { text }, turn_id },
    { type: 'turn_ended', data: { status: 'completed', usage_total: USAGE }, turn_id },
  ]
}

const USAGE = { input: 0, cached_read: 0, cache_write: 0, output: 0, reasoning: 0, calls: 0 }

/** Turns `from` to `to` of a Session, in writes that are not too large. */
async function grow(
  root: string,
  from: number,
  to: number,
  session?: SessionId,
): Promise<SessionId> {
  let id = session ?? (await writeLog(root, [START]))
  for (let first = from; first <= to; first += TURNS_A_WRITE) {
    const last = Math.min(to, first + TURNS_A_WRITE - 1)
    const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at)
    id = await writeLog(root, numbers.flatMap(turnEvents), id)
  }
  return id
}

const TURNS_A_WRITE = 100

async function scene(...turns: readonly number[]) {
  const root = await freshFolder()
  const server = await localServer({ root, app: BUILT_APP })
  await newSession(server)
  const ids: string[] = []
  for (const count of turns) ids.push(await grow(root, 1, count))
  const { page } = await appTab(server)
  return { root, server, ids, page }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

/** How often a comparison of times is repeated, because another program can disturb one. */
const ATTEMPTS = 5

/** A ratio of two times measured in turn, repeated where the machine was busy: it must hold once. */
async function bestRatio(
  name: string,
  limit: number,
  measure: () => Promise<number>,
): Promise<number> {
  const ratios: number[] = []
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    ratios.push(Number((await measure()).toFixed(2)))
    if ((ratios.at(-1) ?? Infinity) <= limit) break
  }
  console.log(JSON.stringify({ test: name, ratios, limit }))
  return Math.min(...ratios)
}

test('a Session of 10,000 Events is painted in at most 1.5 times the time of one of 100', async () => {
  const { server, ids, page } = await scene(25, 2_500)
  const [short = '', long = ''] = ids
  const painted = async (id: string, last: number) => {
    await page.goto(`${server.origin}/s/${id}`)
    await page.getByText(`Message ${last}`, { exact: true }).waitFor()
    return Number(await page.evaluate('performance.now()'))
  }
  // Once for the caches of both.
  await painted(short, 25)
  await painted(long, 2_500)
  const ratio = await bestRatio('first paint, 10,000 Events to 100', 1.5, async () => {
    const [one, other]: [number[], number[]] = [[], []]
    for (let round = 0; round < 5; round += 1) {
      one.push(await painted(short, 25))
      other.push(await painted(long, 2_500))
    }
    return median(other) / median(one)
  })
  expect(ratio).toBeLessThanOrEqual(1.5)
})

/** The share of frames over 50 ms while the transcript is scrolled, in percent. */
const LONG_FRAMES = `(async () => {
  const box = document.querySelector('.transcript')
  let long = 0
  let last = performance.now()
  for (let step = 0; step < 120; step += 1) {
    box.scrollTop = box.scrollHeight * Math.abs(Math.sin(step / 10))
    await new Promise((resolve) => requestAnimationFrame(resolve))
    const now = performance.now()
    if (now - last > 50) long += 1
    last = now
  }
  return (100 * long) / 120
})()`

test('scrolling 10,000 Events has at most 5 % more long frames than 100', async () => {
  const { server, ids, page } = await scene(25, 2_500)
  const share = async (id: string) => {
    await page.goto(`${server.origin}/s/${id}`)
    await connected(page)
    return Number(await page.evaluate(LONG_FRAMES))
  }
  const [short = '', long = ''] = ids
  const more: number[] = []
  for (
    let attempt = 0;
    attempt < ATTEMPTS && (more.length === 0 || Math.min(...more) > 5);
    attempt += 1
  )
    more.push((await share(long)) - (await share(short)))
  console.log(JSON.stringify({ test: 'more long frames, %', more }))
  expect(Math.min(...more)).toBeLessThanOrEqual(5)
})

test('memory after 1,000 Turns is at most 1.3 times that after 50', async () => {
  const { root, server, page } = await scene()
  const id = await grow(root, 1, 1)
  await page.goto(`${server.origin}/s/${id}`)
  await connected(page)
  const used = async (last: number) => {
    await page.getByText(`Message ${last}`, { exact: true }).waitFor({ state: 'attached' })
    const session = await page.context().newCDPSession(page)
    await session.send('HeapProfiler.collectGarbage')
    const { usedSize } = await session.send('Runtime.getHeapUsage')
    await session.detach()
    return usedSize
  }
  // Written by another process, so every Event reaches the page while it is open.
  await grow(root, 2, 50, id)
  const early = await used(50)
  await grow(root, 51, 1_000, id)
  const ratio = (await used(1_000)) / early
  console.log(JSON.stringify({ test: 'memory, 1,000 Turns to 50', ratio: ratio.toFixed(2) }))
  expect(ratio).toBeLessThanOrEqual(1.3)
})

const KEY_TIMES = `(() => {
  globalThis.keyTimes = []
  const times = globalThis.keyTimes
  globalThis.removeKeys?.()
  const pressed = ({ timeStamp }) => requestAnimationFrame(() =>
    setTimeout(() => times.push(performance.now() - timeStamp)))
  addEventListener('keydown', pressed, true)
  globalThis.removeKeys = () => removeEventListener('keydown', pressed, true)
})()`

test('typing with 20 staged files takes at most 1.2 times as long as with none', async () => {
  const { server, page } = await scene()
  const open = async () => {
    await page.goto(`${server.origin}/s/${await newSession(server)}`)
    await connected(page)
  }
  const files = Array.from({ length: 20 }, (_, at) => ({
    name: `note-${at}.txt`,
    mimeType: 'text/plain',
    buffer: Buffer.from(`note ${at}`),
  }))
  // In the page, from the key to the frame that shows it: this process also is the server.
  const once = async () => {
    await composer(page).fill('')
    await composer(page).focus()
    await page.evaluate(KEY_TIMES)
    for (let key = 0; key < 200; key += 1) await page.keyboard.press('a')
    await expect.poll(() => page.evaluate('keyTimes.length')).toBe(200)
    const times = (await page.evaluate('keyTimes')) as number[]
    return times.toSorted((a, b) => a - b)[190] ?? 0
  }
  // Of three series each, because one stall of the machine is longer than any key.
  const p95 = async () => median([await once(), await once(), await once()])
  const ratio = await bestRatio('p95 of 200 keys, 20 files to none', 1.2, async () => {
    await open()
    const without = await p95()
    await page.setInputFiles('.composer input[type=file]', files)
    await expect
      .poll(() => page.locator('.chip .verdict').allTextContents())
      .toEqual(files.map(() => '✓ accepted'))
    return (await p95()) / without
  })
  expect(ratio).toBeLessThanOrEqual(1.2)
})
