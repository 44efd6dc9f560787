import { expect } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { readSpan } from '../../../src/host/files/files.ts'
import { systemIds } from '../../../src/host/ids.ts'
import type { Lease } from '../../../src/log/lease-store.ts'
import type { LogStore, ReadableLog, WritableLog } from '../../../src/log/log-store.ts'
import type { LogStores } from '../../../src/log/place.ts'
import type { SessionId } from '../../../src/model/ids.ts'
import { value } from '../../support/log/story.ts'
import type { ContractCheck, EngineUnderTest } from './stores-under-test.ts'

export const ids = systemIds(systemClock)

/** A Log that is being written. */
export interface Begun {
  readonly engine: EngineUnderTest
  readonly stores: LogStores
  readonly session: SessionId
  readonly lease: Lease
  readonly log: WritableLog
}

export function withLog(work: (begun: Begun) => Promise<void>): ContractCheck['check'] {
  return async (make) => {
    const begun = await begin(await make())
    await work(begun)
    await close(begun)
  }
}

export async function begin(engine: EngineUnderTest, session = ids.session()): Promise<Begun> {
  const stores = await engine.process()
  const lease = value(await stores.leases.take(session))
  const log = await stores.logs.create(session, lease)
  return { engine, stores, session, lease, log }
}

export async function takeOver(engine: EngineUnderTest, session: SessionId): Promise<Begun> {
  const stores = await engine.process()
  const lease = value(await stores.leases.take(session))
  const log = await stores.logs.openToWrite(session)
  if (log === undefined) throw new Error('the Log is gone')
  return { engine, stores, session, lease, log: log.under(lease) }
}

export async function close({ log, lease }: Pick<Begun, 'log' | 'lease'>): Promise<void> {
  await log.close()
  await lease.release()
}

/** A line of about this length, which no other has. */
export function line(length: number): Buffer {
  return Buffer.from(`${ids.event()}${'é'.repeat(length)}\n`)
}

export async function appendAll(
  log: WritableLog,
  batches: readonly Buffer[],
  from = 0,
): Promise<Buffer> {
  let at = from
  for (const batch of batches) {
    expect(await log.append(batch, at)).toBeUndefined()
    at += batch.length
  }
  return Buffer.concat(batches)
}

export async function opened(logs: LogStore, session: SessionId): Promise<ReadableLog> {
  const log = await logs.open(session)
  if (log === undefined) throw new Error('the Log is not there')
  return log
}

export async function textOf(log: ReadableLog): Promise<Buffer> {
  return readSpan(log, 0, (await log.stat()).size)
}

export async function bytesIn(
  { logs }: Pick<LogStores, 'logs'>,
  session: SessionId,
): Promise<Buffer> {
  const log = await opened(logs, session)
  const bytes = await textOf(log)
  await log.close()
  return bytes
}

/** Every piece of the storage, by its name. */
export async function rawPieces(logs: LogStore): Promise<ReadonlyMap<string, Buffer>> {
  const pieces = new Map<string, Buffer>()
  const unread = await logs.each(async (name, raw) => {
    const all: Buffer[] = []
    for await (const piece of raw) all.push(piece)
    pieces.set(name, Buffer.concat(all))
  })
  expect(unread).toBeUndefined()
  return pieces
}

export const sorted = (sessions: readonly SessionId[]) => [...sessions].toSorted()
