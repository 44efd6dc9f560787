import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mentionedBlobs } from '../../../src/blobs/sweep.ts'
import { readSpan } from '../../../src/host/files/files.ts'
import { openLineage } from '../../../src/log/lineage-log.ts'
import { Harness } from '../../../src/session/harness.ts'
import { value } from '../log/story.ts'
import type { AskedParts } from './asked-harness.ts'
import { withClock } from './harness-parts.ts'

// What must hold in a workspace with families of Sessions while nothing runs. Each returns the offences as sentences.

/** Every Session opens, and its Log, its requests and its blobs are as they were written. */
export async function unlikeWritten(harness: Harness): Promise<string[]> {
  const offences: string[] = []
  for (const { id, damage } of await harness.list()) {
    if (damage !== undefined) offences.push(`${id} is damaged: ${damage.message}`)
    const proof = await harness.verify(id, { requests: true })
    if (!proof.ok) {
      offences.push(`${id}: ${proof.error.message}`)
      continue
    }
    const { log, requests } = proof.value
    if (log.damage !== undefined) offences.push(`${id}: ${log.damage.message}`)
    if (requests?.mismatches.length !== 0) offences.push(`${id}: a request differs`)
  }
  const bad = value(await harness.badPayloads())
  return [...offences, ...bad.map((one) => `a payload is bad: ${JSON.stringify(one)}`)]
}

const TWO_HOURS = 2 * 60 * 60_000

/** As a sweep two hours from now finds it: all blobs are old. */
export function laterHarness(parts: AskedParts): Harness {
  const { clock } = parts.log.place
  return new Harness(withClock(parts, { ...clock, now: () => clock.now() + TWO_HOURS }))
}

/** After a sweep, a blob is there only if a Session that is there mentions it, or what a repair cut off. */
export async function unmentionedBlobs({ log, workspace }: AskedParts): Promise<string[]> {
  const { place, store } = log
  const bytes: AsyncIterable<Buffer>[] = []
  const sessions = join(workspace.path, '.hawser', 'sessions')
  for (const name of await readdir(sessions))
    if (name.includes('.torn-')) bytes.push(onePiece(await readFile(join(sessions, name))))
  for (const id of await place.logs.list()) {
    const file = await openLineage(place.logs, id)
    if (file === undefined) return [`${id} cannot be opened`]
    const { size } = await file.stat()
    bytes.push(onePiece(await readSpan(file, 0, size)))
    await file.close()
  }
  const mentioned = new Set(value(await mentionedBlobs(store, { bytes, sources: [] })))
  const stored = value(await store.list())
  return stored.filter((key) => !mentioned.has(key)).map((key) => `${key} is mentioned by nothing`)
}

async function* onePiece(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

/** After every Session was deleted, a sweep leaves nothing of them. */
export async function leftAfterAll(parts: AskedParts): Promise<string[]> {
  const harness = laterHarness(parts)
  for (const { id } of await harness.list()) value(await harness.delete(id))
  value(await harness.gc({ dryRun: false }))
  const { place, store } = parts.log
  const left = {
    Logs: await place.logs.list(),
    'deleted Logs': await place.logs.listHidden(),
    heads: await place.heads.list(),
    blobs: value(await store.list()),
  }
  return Object.entries(left).flatMap(([what, all]) =>
    all.length === 0 ? [] : [`${all.length} ${what} stay`],
  )
}
