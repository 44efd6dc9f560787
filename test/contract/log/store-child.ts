// A process of its own for the contract of the stores: answers each line of its input with one line.
import { createInterface } from 'node:readline'
import { systemClock } from '../../../src/host/clock.ts'
import { diskFolder } from '../../../src/host/files/disk.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { thisProcess } from '../../../src/host/process/holder.ts'
import { fileStores } from '../../../src/log/files/file-stores.ts'
import type { Lease } from '../../../src/log/lease-store.ts'
import type { WritableLog } from '../../../src/log/log-store.ts'
import { SessionId } from '../../../src/model/ids.ts'
import { parseRequest, type StoreAnswer } from './store-program.ts'

const root = await diskFolder(process.argv[2] ?? '')
const stores = fileStores({
  sessions: await root.folder('sessions', 'create'),
  heads: await root.folder('heads', 'create'),
  clock: systemClock,
  ids: systemIds(systemClock),
  holder: thisProcess('contract'),
})
const DONE: StoreAnswer = { outcome: 'done' }
const held = new Map<SessionId, { readonly lease: Lease; readonly log: WritableLog }>()

for await (const line of createInterface({ input: process.stdin })) {
  const { act, session, lines = 0 } = parseRequest(line)
  const id = SessionId.parse(session)
  const answer = await {
    take: () => take(id),
    append: () => append(id, lines),
    release: () => release(id),
    alone: () => stores.leases.alone(async () => DONE),
    enter: () => enter(),
  }[act]()
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}

/** Stays alone. */
function enter(): Promise<StoreAnswer> {
  return new Promise((resolve) => {
    void stores.leases.alone(() => {
      resolve(DONE)
      return new Promise(() => {})
    })
  })
}

async function take(session: SessionId): Promise<StoreAnswer> {
  const lease = await stores.leases.take(session)
  if (!lease.ok) return { outcome: lease.error.kind }
  const known = await stores.logs.openToWrite(session)
  const log = known?.under(lease.value) ?? (await stores.logs.create(session, lease.value))
  held.set(session, { lease: lease.value, log })
  const { size } = await log.stat()
  const { abandonedBy } = lease.value
  return { outcome: 'done', size, ...(abandonedBy && { abandonedBy: abandonedBy.pid }) }
}

/** Lines with their offset, each a batch. */
async function append(session: SessionId, lines: number): Promise<StoreAnswer> {
  const { log } = holding(session)
  let { size } = await log.stat()
  for (let n = 0; n < lines; n++) {
    const bytes = Buffer.from(`${String(size).padStart(9, '0')}\n`)
    const failure = await log.append(bytes, size)
    if (failure !== undefined) return { outcome: failure.error.kind, size }
    size += bytes.length
  }
  return { outcome: 'done', size }
}

async function release(session: SessionId): Promise<StoreAnswer> {
  const { log, lease } = holding(session)
  held.delete(session)
  await log.close()
  await lease.release()
  return DONE
}

function holding(session: SessionId) {
  const found = held.get(session)
  if (found === undefined) throw new Error('the lease was not taken')
  return found
}
