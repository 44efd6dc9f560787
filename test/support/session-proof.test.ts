import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sha256 } from '../../src/encoding/hash.ts'
import { parseJson } from '../../src/encoding/json.ts'
import { sealLine } from '../../src/log/line.ts'
import { isEventEnvelope } from '../../src/model/events/event.ts'
import { registerDamage } from './log/registered-damage.ts'
import { freshFolder } from './host/folder.ts'
import { say } from './resources/sample-files.ts'
import { failuresOf, proveInParallel, summaryOf } from './parallel-proof.ts'
import { proveSessions } from './session-proof.ts'
import { value } from './log/story.ts'
import { wayPlace, type Way } from './providers/ways.ts'
import { logPath } from './session/write-log.ts'

/** A Session of two Turns and a later write, the only one below `root`. */
async function conversation(way: Way, root: string) {
  const place = await wayPlace(way, { root })
  await writeFile(join(place.workspace, 'notes.txt'), 'rope\n')
  const session = value(await place.harness.create(place.begin))
  await say(session, 'Read notes.txt')
  await say(session, 'What is 2 + 2?')
  value(await session.pin('Be brief.'))
  await session.close()
  return { log: logPath(root, session.id), head: join(root, 'home', 'heads', session.id) }
}

/** Changes one digit of the last recorded request hash. */
function changedHash(log: string): string {
  const at = log.lastIndexOf('"request_sha256":"') + '"request_sha256":"'.length
  return `${log.slice(0, at)}${log.charAt(at) === '0' ? '1' : '0'}${log.slice(at + 1)}`
}

/** The same Events with valid checksums and a valid chain. */
function resealed(log: string): Buffer {
  let prev: string | null = null
  const lines: Buffer[] = []
  for (const [seq, line] of log.trimEnd().split('\n').entries()) {
    const event = parseJson(line)
    if (!isEventEnvelope(event)) throw new Error('not an Event')
    const unsealed = { ...event, data: JSON.stringify(event.data) }
    const { bytes } = sealLine(unsealed, seq, prev, event.batch ?? 0)
    prev = sha256(bytes.subarray(0, -1))
    lines.push(bytes)
  }
  return Buffer.concat(lines)
}

/** Repeats the first line after the last request, where it is invalid; a later write shows that it is not a torn tail. */
function damaged(log: string): string {
  const lines = log.split('\n')
  const last = lines.findLastIndex((line) => line.includes('"type":"provider_request"'))
  return lines.toSpliced(last + 1, 0, lines[0] ?? '').join('\n')
}

const NONE = {
  not_comparable: 0,
  unbegun: 0,
  damaged_on_purpose: 0,
  requests_of_damaged: 0,
  wrong: [],
}
const PROVED = { ...NONE, sessions: 1, requests: 3 }

test.each(['in process', 'messages', 'responses', 'chat'] as const)(
  '%s: one changed digit of a recorded request hash is found, whether the Log is sealed again or not',
  async (way) => {
    const root = await freshFolder()
    const { log, head } = await conversation(way, join(root, 'one'))
    expect(await proveSessions(root)).toEqual(PROVED)
    await registerDamage(root, 'events', 'A recorded request hash is changed.')
    const whole = await readFile(log, 'utf8')
    await writeFile(log, changedHash(whole))
    expect(await proveSessions(root)).toEqual({
      ...PROVED,
      sessions: 0,
      requests: 0,
      wrong: [expect.stringMatching(/: damaged: .*"reason":"checksum"/)],
    })
    // Sealed again, the Log is valid; without a head, only the request hash shows the change.
    await rm(head)
    await writeFile(log, resealed(whole))
    expect(await proveSessions(root)).toEqual(PROVED)
    await writeFile(log, resealed(changedHash(whole)))
    expect(await proveSessions(root)).toEqual({
      ...PROVED,
      sessions: 0,
      requests: 0,
      wrong: [expect.stringMatching(/ndjson: Event \d+: request_sha256 "[0-9a-f]{64}" recorded/)],
    })
  },
)

test('damage below a registered folder is counted, and the requests before it and intact Sessions are verified', async () => {
  const root = await freshFolder()
  const damagedSession = await conversation('in process', join(root, 'spoilt'))
  await conversation('in process', join(root, 'whole'))
  await registerDamage(root, 'log', 'A recorded request hash is changed.')
  await writeFile(damagedSession.log, changedHash(await readFile(damagedSession.log, 'utf8')))
  expect(await proveSessions(root)).toMatchObject({
    damaged_on_purpose: 0,
    wrong: [expect.any(String)],
  })
  await registerDamage(join(root, 'spoilt'), 'log', 'As registered in a run.', root)
  const counted = { ...PROVED, damaged_on_purpose: 1, requests_of_damaged: 2 }
  expect(await proveSessions(root)).toEqual(counted)
})

test('a request before registered damage that does not follow from the Log is wrong', async () => {
  const root = await freshFolder()
  const { log, head } = await conversation('in process', root)
  await registerDamage(root, 'events', 'A recorded request hash is changed.')
  await registerDamage(root, 'log', 'A line is repeated.')
  await registerDamage(root, 'log', 'As registered in a run.', root)
  await rm(head)
  const good = await readFile(log, 'utf8')
  await writeFile(log, damaged(good))
  const one = { ...NONE, sessions: 0, requests: 0 }
  expect(await proveSessions(root)).toEqual({
    ...one,
    damaged_on_purpose: 1,
    requests_of_damaged: 3,
  })
  await writeFile(log, damaged(resealed(changedHash(good)).toString('utf8')))
  expect(await proveSessions(root)).toEqual({
    ...one,
    wrong: [expect.stringMatching(/ndjson: Event \d+: request_sha256 "[0-9a-f]{64}" recorded/)],
  })
})

test('missing payloads may be registered, and excuse neither a damaged Log nor another hash', async () => {
  const root = await freshFolder()
  const { log } = await conversation('in process', root)
  await registerDamage(root, 'log', 'Bytes of a Log are changed.')
  await registerDamage(root, 'blobs', 'The surface is missing.')
  await registerDamage(root, 'blobs', 'As registered in a run.', root)
  const blobs = join(root, 'workspace', '.hawser', 'blobs')
  for (const name of await readdir(blobs)) await rm(join(blobs, name))
  expect(await proveSessions(root)).toMatchObject({ damaged_on_purpose: 1, wrong: [] })
  await writeFile(log, changedHash(await readFile(log, 'utf8')))
  expect(await proveSessions(root)).toMatchObject({
    damaged_on_purpose: 0,
    wrong: [expect.stringMatching(/: damaged: .*"reason":"checksum"/)],
  })
})

test('programs that share the work find every Session, and a run fails if one is wrong', async () => {
  const root = await freshFolder()
  for (const name of ['a', 'b']) await conversation('in process', join(root, name))
  const { log } = await conversation('in process', join(root, 'c'))
  await registerDamage(root, 'log', 'A recorded request hash is changed.')
  await writeFile(log, changedHash(await readFile(log, 'utf8')))
  const parts = [await proveSessions(root, 0, 2), await proveSessions(root, 1, 2)]
  expect(parts.map(({ sessions, wrong }) => sessions + wrong.length)).toEqual([2, 1])
  const proven = await proveInParallel(root)
  expect(proven).toMatchObject({ sessions: 2, requests: 6, wrong: [expect.stringContaining(log)] })
  expect(summaryOf(proven)).toMatch(/^Sessions of this run: 2 proved, with 6 requests.* 1 wrong/)
  const wrong = expect.stringContaining(log) as string
  expect(failuresOf(proven, false)).toEqual([wrong])
  expect(failuresOf(proven, true)).toEqual([wrong, expect.stringContaining('only 6 requests')])
  expect(failuresOf({ ...proven, requests: 1_000, wrong: [] }, true)).toEqual([])
})
