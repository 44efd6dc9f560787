import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { composeRelayAccess } from '../../../src/compose/relay.ts'
import { sha256 } from '../../../src/encoding/hash.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { diskFolder } from '../../../src/host/files/disk.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { takeNamedPipe } from '../../../src/host/process/named-pipes.ts'
import { wait } from '../../../src/host/wait.ts'
import { sealLine } from '../../../src/log/line.ts'
import { EventId, SessionId, TurnId } from '../../../src/model/ids.ts'
import { openRelay } from '../../../src/tether/relay/relay.ts'
import { NO_SPEND } from '../../../src/tether/relay/rules.ts'
import { GuestLogs } from '../../../src/tether/server/guest-logs.ts'
import { guestLogsIn } from '../../support/tether/guest-logs.ts'
import { instanceFolders, startGuest, type GuestPlay } from '../../support/tether/guest-program.ts'
import { listKin } from '../../../src/host/process/kin.ts'
import { hostileProgram } from './hostile-guests.ts'
import {
  changes,
  guestFolder,
  holdings,
  remains,
  setTakenScene,
  snapshot,
  tracesOf,
} from './taken-guest-scene.ts'
import {
  FORGED_LOGS,
  flooding,
  OWN_SESSION,
  reaching,
  stubborn,
  type TakenGuest,
} from './taken-guests.ts'

/**
 * Starts every guest that was taken over, in a sandbox and as its user, stops it, and reports how it ended, what it changed and
 * what is left of it. `small` or `full` sizes. The controls plant a change and a leftover.
 */
const [, , scene = '', size = 'small'] = process.argv
const isFull = size === 'full'
const found: Record<string, Outcome> = {}

interface Outcome {
  readonly ended: string
  readonly changed: readonly string[]
  readonly left: readonly string[]
  readonly growthMb: number
}

// Of its own, so that a temporary file can only be of this run.
process.env['TMPDIR'] = join(scene, 'tmp')
await mkdir(join(scene, 'tmp'))
// The folder of named pipes belongs to this process, and stays until it ends.
await rm(await takeNamedPipe())
let made = 0
await attack((root, others) => reaching(root, others))
for (const forged of FORGED_LOGS) await attack(() => forged)
await attack(() => flooding(isFull ? 100_000 : 20_000, isFull ? 50_000_000 : 5_000_000))
await attack(() => stubborn(isFull ? 200 : 60))
await attack(() => stubborn(12), { isControl: true })
console.log(JSON.stringify(found))

async function attack(
  choose: (root: string, others: readonly string[]) => TakenGuest,
  { isControl = false } = {},
): Promise<void> {
  const root = join(scene, String(made++))
  await mkdir(root, { mode: 0o700 })
  const others = await setTakenScene(root)
  await instanceFolders(root)
  await plantLog(root)
  const taken = choose(root, others)
  const { name, script, ends } = taken
  const head = join(root, 'hawser/instances/inst_1/heads', OWN_SESSION)
  const believed = readFileSync(head, 'utf8')
  const [before, held, memory] = [snapshot(root), holdings(root), process.memoryUsage().rss]
  const program = { argv: hostileProgram(script), readable: [] }
  const started = await startGuest({ root, program, relay })
  if (!started.ok) return void (found[name] = nothing(`not started: ${started.error.message}`))
  const guest = started.value
  guest.send('m1', 'Hello')
  const work = working(guest, taken)
  // A guest that is stopped for a reason may be gone before its processes can be listed.
  const isGone = await Promise.race([guest.host.ended.then(() => true), work.then(() => false)])
  const traces = tracesOf(guest.host.pid)
  if (isControl) {
    await writeFile(join(root, 'person/.bashrc'), 'planted')
    const left = remains(traces, held, holdings(root))
    found['a planted change and leftover'] = {
      ...nothing('stopped'),
      changed: changes(before, snapshot(root)),
      left,
    }
    await guest.host.stop(0)
    traces.release()
    return
  }
  const { reason } = isGone ? await guest.host.ended : await guest.host.stop(100)
  const ended = reason?.kind ?? (ends === 'stopped' ? 'stopped' : await work)
  found[name] = {
    ended,
    changed: [
      ...changes(before, snapshot(root)),
      ...(readFileSync(head, 'utf8') === believed ? [] : ['the server believes more of its Log']),
    ],
    left: remains(traces, held, holdings(root)),
    growthMb: Math.round((process.memoryUsage().rss - memory) / 2 ** 20),
  }
  traces.release()
}

/** A relay whose provider cannot be reached. */
function relay(socket: Duplex) {
  const entry = { base_url: 'http://127.0.0.1:1', key: 'key-of-the-person' }
  const access = composeRelayAccess('anthropic', {}, { providers: { anthropic: entry } })
  if (!access.ok) throw new Error(access.error.message)
  return openRelay(socket, {
    access: access.value,
    models: ['model'],
    spentBefore: NO_SPEND,
    onSpend: () => {},
    clock: systemClock,
    log: () => {},
  })
}

/** Resolves when the guest has done what it does. */
async function working(guest: GuestPlay, { ends, processes = 0 }: TakenGuest): Promise<string> {
  if (ends !== 'stopped') {
    const { type } = await guest.ended('m1').catch(() => ({ type: 'nothing' }))
    return type === 'assistant.done' ? 'answered' : type
  }
  const up = join(guest.root, 'workspace/scratch/up')
  const floods = () =>
    guest.frames.length >= 5_000 && guest.output().includes('the end of the output')
  while (!existsSync(up) && !floods()) await wait(systemClock, 5)
  while (listKin(guest.host.pid).length < processes) await wait(systemClock, 5)
  return 'stopped'
}

/** A Log of this Instance that the server has seen. */
async function plantLog(root: string): Promise<void> {
  const { workspace, heads } = await instanceFolders(root)
  const session_id = SessionId.parse(OWN_SESSION)
  const ts = '2026-11-17T10:00:00.000Z'
  const tether = { instance: 'inst_1', channel: 'host', id: 'default' }
  const data = {
    workspace,
    provider: 'rehearsal',
    model: 'rehearsal',
    mode: 'build',
    permission_mode: 'ask',
    presenter: 'tether',
    harness_version: '0.1.0',
    tether,
  }
  const id = (at: number) => EventId.parse(`evt_01kg8m2q3r4s5t6v7w8x9y0z1${at}`)
  const first = sealLine(
    { id: id(1), session_id, ts, type: 'session_started', data: JSON.stringify(data) },
    0,
    null,
    0,
  )
  const turn_id = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z12')
  const last = sealLine(
    { id: id(2), session_id, turn_id, ts, type: 'turn_ended', data: '{"status":"completed"}' },
    1,
    sha256(first.bytes.subarray(0, -1)),
    0,
  )
  const log = join(guestFolder(workspace), 'sessions', `${OWN_SESSION}.ndjson`)
  await writeFile(log, Buffer.concat([first.bytes, last.bytes]), { mode: 0o600 })
  const folder = await diskFolder(heads)
  const place = { instance: 'inst_1', workspace, heads: folder, ids: systemIds(systemClock) }
  const logs = new GuestLogs(guestLogsIn(place))
  const seen = await logs.verify()
  await folder.close()
  if (!seen.ok || !existsSync(join(heads, OWN_SESSION)))
    throw new Error(`no head: ${JSON.stringify(seen)}`)
}

function nothing(ended: string): Outcome {
  return { ended, changed: [], left: [], growthMb: 0 }
}
