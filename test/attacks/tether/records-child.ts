import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../../src/host/clock.ts'
import { diskFolder } from '../../../src/host/files/disk.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { readGuestBlob } from '../../../src/tether/records/files/guest-blob.ts'
import { GuestLogs } from '../../../src/tether/server/guest-logs.ts'
import { guestLogsIn } from '../../support/tether/guest-logs.ts'
import { NAMED, NAMED_BYTES } from '../../support/resources/blob-attacks.ts'
import { makeRecords } from '../../support/session/records.ts'
import { treeHash } from '../../support/host/tree-hash.ts'
import { RECORD_ATTACKS, RECORD_LINKS } from './record-attacks.ts'

/**
 * Starts a guest for every attack on records that are not its own, as its user, and reports what got through. With `shared`,
 * the guest sees the `.hawser` of the person as its own: the control, by which every attack that can succeed does.
 */
const [, , root = '', order] = process.argv
const sandbox = systemSandbox()
const PERSON = 'ses_01m7pg0cv9pc32v32r70y9c178.ndjson'
const OTHER = 'ses_01m7pg0k04k1baz4gbs6qm0838.ndjson'
const CANARY = 'canary-of-the-person'

const found: Record<string, string> = {}
for (const { name, script } of RECORD_ATTACKS) found[name] = await attacked(script)
if (order !== 'shared') for (const { name, script } of RECORD_LINKS) found[name] = await led(script)
console.log(JSON.stringify(found))

/** A workspace with Sessions of the person and of another Instance. */
async function scene() {
  const folder = join(root, `${Object.keys(found).length}-${order ?? 'own'}`)
  const [workspace, home, ownHome] = [
    join(folder, 'ws'),
    join(folder, 'home'),
    join(folder, 'home/instances/inst_1/home'),
  ]
  const own = join(workspace, '.hawser')
  const other = await makeRecords(workspace, 'inst_2')
  const records = await makeRecords(workspace)
  for (const path of [
    ownHome,
    join(own, 'sessions'),
    join(other, 'sessions'),
    join(workspace, 'fake'),
  ])
    await mkdir(path, { recursive: true, mode: 0o700 })
  const files = [
    join(own, 'sessions', PERSON),
    join(own, 'config.json'),
    join(other, 'sessions', OTHER),
  ]
  for (const path of files) await writeFile(path, `${CANARY}\n`, { mode: 0o600 })
  await writeFile(join(workspace, 'fake', PERSON), 'planted\n', { mode: 0o600 })
  await writeFile(join(workspace, 'fake/secret'), NAMED_BYTES, { mode: 0o600 })
  const run = async (script: string) => {
    let output = ''
    const started = await sandbox.start(
      {
        workspace,
        home,
        ownHome,
        records: order === 'shared' ? own : records,
        guest: true,
        writable: 'workspace',
        protectedPaths: [],
      },
      {
        argv: ['/bin/bash', '-c', script],
        env: { LC_ALL: 'C', W: workspace, P: PERSON, O: OTHER, B: NAMED.blob },
        descriptors: [],
        onOutput: (chunk) => void (output += chunk.toString()),
      },
    )
    if (!started.ok) throw new Error(started.error.message)
    await started.value.ending
    return output
  }
  return { folder, workspace, own, records, run }
}

async function attacked(script: string): Promise<string> {
  const { own, records, run } = await scene()
  const before = await treeHash(own, [records])
  const output = await run(`${script}; echo TRIED`)
  if (!output.includes('TRIED')) return `it was not tried: ${output}`
  if (output.includes(CANARY)) return 'it read records of others'
  if (output.includes('MOVED')) return 'it moved a folder'
  return (await treeHash(own, [records]).catch(() => 'gone')) === before
    ? 'nothing'
    : 'it changed records of others'
}

/** What the server believes of records that lead elsewhere. */
async function led(script: string): Promise<string> {
  const { folder, workspace, run } = await scene()
  const output = await run(`${script}; echo TRIED`)
  if (!output.includes('TRIED')) return `it was not tried: ${output}`
  const place = { workspace, instance: 'inst_1' }
  const blob = await readGuestBlob(place, NAMED)
  if (blob.ok) return 'a blob was read'
  await mkdir(join(folder, 'heads'), { mode: 0o700 })
  const heads = await diskFolder(join(folder, 'heads'))
  const logs = new GuestLogs(guestLogsIn({ ...place, heads, ids: systemIds(systemClock) }))
  const verified = await logs.verify()
  const known = await heads.names()
  await heads.close()
  if (known.length > 0) return 'a Log was believed'
  return verified.ok || verified.error.kind !== 'internal' ? 'nothing' : verified.error.kind
}
