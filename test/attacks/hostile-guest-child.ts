import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startGuest } from '../support/guest-program.ts'
import { readGuestBlob } from '../../src/tether/daemon/guest-blob.ts'
import { BLOB_ATTACKS, blobScene, NAMED } from '../support/blob-attacks.ts'
import { FORGED_SEQ, HOSTILE_GUESTS, hostileProgram } from './hostile-guests.ts'
import { misuseRelay } from './relay-misuse.ts'

/** Starts every hostile guest in a sandbox as its user, and reports how the daemon ended it and what it reached. */

const [, , scene = ''] = process.argv
const found: Record<string, string> = {}
for (const [at, { name, script }] of HOSTILE_GUESTS.entries()) {
  const root = join(scene, String(at))
  await mkdir(root, { mode: 0o700 })
  const program = { argv: hostileProgram(script), readable: [] }
  const started = await startGuest({ root, program })
  if (!started.ok) {
    found[name] = `not started: ${started.error.kind} ${started.error.message}`
    continue
  }
  const { send, host, frames } = started.value
  send('m1', 'Hello')
  const { reason } = await host.ended
  found[name] = `${reason?.kind ?? 'no reason'}, ${frames.length} frames used`
}
found['a forged seq'] = await forgedSeq(join(scene, 'seq'))
for (const [at, [name, attack]] of BLOB_ATTACKS.entries()) {
  const place = await blobScene(join(scene, `blobs-${at}`))
  const change = (await attack(place)) ?? {}
  const read = await readGuestBlob(place.workspace, { ...NAMED, ...change })
  found[`an image with ${name}`] = read.ok ? 'read' : 'refused'
}
await mkdir(join(scene, 'relay'), { mode: 0o700 })
console.log(JSON.stringify({ found, relay: await misuseRelay(join(scene, 'relay')) }))

/** Sends an answer with a `seq` and bytes that no guest sends, and reports what of it the daemon uses. */
async function forgedSeq(root: string): Promise<string> {
  await mkdir(root, { mode: 0o700 })
  const program = { argv: hostileProgram(FORGED_SEQ), readable: [] }
  const started = await startGuest({ root, program })
  if (!started.ok) return `not started: ${started.error.kind}`
  const { send, host, ended } = started.value
  send('m1', 'Hello')
  const frame = await ended('m1')
  await host.stop(0)
  return Object.keys(frame).toSorted().join(' ')
}
