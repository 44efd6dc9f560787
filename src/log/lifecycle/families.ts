import { closing, fileFailure } from '../../host/files/files.ts'
import type { RawSource } from '../../host/files/raw-source.ts'
import type { SessionId } from '../../model/ids.ts'
import { forkOf } from '../lineage-log.ts'
import type { LogStores } from '../place.ts'

/** Which Logs need which: read from the first line of each. Complete only under the lineage lock (`LeaseStore.alone`). */
export class Families {
  readonly #origins: Map<SessionId, Origin>

  constructor(origins: Map<SessionId, Origin>) {
    this.#origins = origins
  }

  /** Whether a Log begins with lines of this one. */
  isNeeded(session: SessionId): boolean {
    return [...this.#origins.values()].some(({ parent }) => parent === session)
  }

  /** How many bytes of a Log its forks read, from its first one on. */
  sharedBytes(session: SessionId): number {
    const start = this.#origins.get(session)?.start ?? 0
    const ends = [...this.#origins.values()].flatMap((one) =>
      one.parent === session ? [one.start - start] : [],
    )
    return Math.max(0, ...ends)
  }

  without(session: SessionId): Families {
    return new Families(new Map([...this.#origins].filter(([id]) => id !== session)))
  }
}

interface Origin {
  readonly parent: SessionId
  /** The position of its first line in its lineage. */
  readonly start: number
}

/** A fork that its creator never acknowledged needs nothing. */
export async function readFamilies({ logs, heads }: LogStores): Promise<Families> {
  const origins = new Map<SessionId, Origin>()
  for (const session of [...(await logs.list()), ...(await logs.listHidden())]) {
    const file = await logs.open(session)
    if (file === undefined) continue
    const fork = await closing(file, () => forkOf(file, session))
    if (fork === undefined) continue
    const head = await heads.read(session)
    if (head.ok && head.value?.seq === -1) continue
    origins.set(session, { parent: fork.parent, start: fork.start.offset })
  }
  return new Families(origins)
}

/**
 * Removes deleted Sessions that no fork needs any more, the youngest first, and completes the deletion of the others. Returns
 * how many there were; `dryRun` removes nothing.
 */
export async function removeHidden(
  stores: LogStores,
  { dryRun }: { readonly dryRun: boolean },
): Promise<number> {
  return stores.leases.alone(async () => {
    let families = await readFamilies(stores)
    let hidden = await stores.logs.listHidden()
    let count = 0
    for (let isOver = false; !isOver;) {
      const unneeded = hidden.filter((session) => !families.isNeeded(session))
      for (const session of unneeded) {
        if (!dryRun) await remove(stores, session)
        families = families.without(session)
      }
      count += unneeded.length
      hidden = hidden.filter((session) => !unneeded.includes(session))
      isOver = unneeded.length === 0
    }
    // A deletion may have been interrupted after it was durable.
    if (!dryRun) for (const session of hidden) await forget(stores, session)
    return count
  })
}

async function remove(stores: LogStores, session: SessionId): Promise<void> {
  const lease = await stores.leases.take(session)
  // A process that began to write it before it was deleted ends soon.
  if (!lease.ok) return
  try {
    await forget(stores, session)
    await stores.logs.delete(session, lease.value)
  } finally {
    await lease.value.release()
  }
}

/** Removes what makes a Log a Session of this machine. */
export async function forget({ indexes, heads }: LogStores, session: SessionId): Promise<void> {
  await indexes.remove(session)
  await heads.remove(session)
  await heads.settle()
}

/** The Logs as a sweep reads them: of deleted Sessions, only what forks share counts. */
export function mentionsOf(stores: LogStores): RawSource {
  const { logs, leases } = stores
  return {
    label: logs.label,
    tidy: (olderThan) => logs.tidy(olderThan),
    each: async (visit) => {
      try {
        const shared = await leases.alone(() => sharedOfHidden(stores))
        return await logs.each((name, bytes) => {
          const session = [...shared.keys()].find((id) => name.startsWith(id))
          const most = session === undefined ? undefined : shared.get(session)
          return visit(name, most === undefined ? bytes : firstBytes(bytes, most))
        })
      } catch (error) {
        return { ok: false, error: fileFailure(error, 'read which Sessions need others') }
      }
    },
  }
}

async function sharedOfHidden(stores: LogStores): Promise<ReadonlyMap<SessionId, number>> {
  const hidden = await stores.logs.listHidden()
  if (hidden.length === 0) return new Map()
  const families = await readFamilies(stores)
  return new Map(hidden.map((session) => [session, families.sharedBytes(session)]))
}

async function* firstBytes(bytes: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
  let rest = most
  for await (const piece of bytes) {
    if (rest <= 0) return
    yield piece.subarray(0, rest)
    rest -= piece.length
  }
}
