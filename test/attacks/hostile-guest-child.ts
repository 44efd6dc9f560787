import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startGuest } from '../support/guest-program.ts'
import { HOSTILE_GUESTS, hostileProgram } from './hostile-guests.ts'

/** Starts every hostile guest in a sandbox and reports how the daemon ended it. */

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
console.log(JSON.stringify(found))
