import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startGuest } from '../../support/tether/guest-program.ts'
import { readGuestBlob } from '../../../src/tether/records/files/guest-blob.ts'
import {
  BLOB_ATTACKS,
  blobScene,
  NAMED,
  NAMED_BYTES,
} from '../../support/resources/blob-attacks.ts'
import { FORGED_SEQ, HOSTILE_GUESTS, hostileProgram } from './hostile-guests.ts'
import { misuseRelay } from './relay-misuse.ts'

/** Starts every hostile guest in a sandbox as its user, and reports how the server ended it and what it reached. */

const [, , scene = ''] = process.argv
const found: Record<string, string> = {}
const SECRET = 'a secret of the person'
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
  const read = await readGuestBlob(place, { ...NAMED, ...change })
  found[`an image with ${name}`] = read.ok ? 'read' : 'refused'
}
found['an image that is swapped while it is read'] = await swapped(join(scene, 'swapped'))
await mkdir(join(scene, 'relay'), { mode: 0o700 })
console.log(JSON.stringify({ found, relay: await misuseRelay(join(scene, 'relay')) }))

/** Sends an answer with a `seq` and bytes that no guest sends, and reports what of it the server uses. */
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

/** A naive reader and ours read an image until the naive one has got the secret that a guest swaps in. */
async function swapped(root: string): Promise<string> {
  const place = await blobScene(root)
  const { workspace, file } = place
  await writeFile(join(workspace, 'secret'), SECRET)
  await writeFile(join(workspace, 'image'), NAMED_BYTES)
  const swap =
    'while :; do cp image new && mv -T new "$0"; ln -sf "$PWD/secret" new && mv -T new "$0"; cp secret new && mv -T new "$0"; done'
  const swapper = spawn('bash', ['-c', swap, file], { cwd: workspace, stdio: 'ignore' })
  const over = once(swapper, 'close')
  let [naive, right, wrong] = [0, 0, 0]
  while (naive < 50 || right < 50) {
    if ((await readFile(file, 'utf8').catch(() => '')) === SECRET) naive += 1
    const read = await readGuestBlob(place, NAMED)
    if (read.ok && read.value.equals(NAMED_BYTES)) right += 1
    else if (read.ok) wrong += 1
  }
  swapper.kill('SIGKILL')
  await over
  return wrong === 0 ? 'never another one' : `${wrong} times another one`
}
