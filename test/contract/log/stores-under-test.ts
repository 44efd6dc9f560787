import { systemClock } from '../../../src/host/clock.ts'
import { diskFolder } from '../../../src/host/files/disk.ts'
import { ifThere, type Folder } from '../../../src/host/files/files.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { fileStores } from '../../../src/log/files/file-stores.ts'
import { indexName, leaseName } from '../../../src/log/files/names.ts'
import type { LogStores } from '../../../src/log/place.ts'
import type { SessionId } from '../../../src/model/ids.ts'
import { CrashDisk } from '../../support/host/crash-disk.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { immediateClock } from '../../support/log/log-place.ts'
import { MemoryEngine } from '../../support/log/memory-engine.ts'
import { memoryStores } from '../../support/log/memory-stores.ts'
import { overwrite, rawBytes } from '../../support/log/raw-log.ts'

/** The stores of an engine, and what only a test can do to them. */
export interface EngineUnderTest {
  /** The stores as one process has them; each call is another process. */
  readonly process: () => Promise<LogStores>
  /** Takes the lease away from its holder without telling it. */
  readonly revoke: (session: SessionId) => Promise<void>
  /** Damages the stored head, and changes one byte of the stored index. Absent if nothing outside the engine can. */
  readonly damage?: {
    readonly head: (session: SessionId) => Promise<void>
    readonly index: (session: SessionId) => Promise<void>
  }
  /** Absent if nothing can fail. */
  readonly faults?: {
    /** No more bytes fit until `free`; a write may first succeed in part. */
    readonly fill: () => void
    readonly free: () => void
    /** The next step that makes bytes durable fails. */
    readonly failSync: () => void
  }
  /** Absent if the power cannot be cut. */
  readonly crash?: {
    /** Calls so far at which it could be. */
    readonly steps: () => number
    /** What the next boot finds. */
    readonly afterCrash: () => EngineUnderTest
    /** What another process finds after the first was killed. */
    readonly afterKill: () => EngineUnderTest
  }
}

/** A new, empty engine; `cutAt` is the step at which the power is cut, for those that can. */
export type MakeEngine = (cutAt?: number, seed?: number) => Promise<EngineUnderTest>

/** A check of a contract: it throws if the engine breaks a promise. */
export interface ContractCheck {
  readonly title: string
  readonly check: (make: MakeEngine) => Promise<void>
}

export const ENGINES: Readonly<Record<string, MakeEngine>> = {
  'files on a disk': async () => {
    const root = await diskFolder(await freshFolder())
    return fileEngine(root)
  },
  'files on a disk that crashes and writes short': async (cutAt, seed) => crashEngine(cutAt, seed),
  'stores in memory': async (cutAt) => memoryEngine(new MemoryEngine(cutAt)),
}

export type WrapFolder = (folder: Folder) => Folder
export type WrapStores = (stores: LogStores) => LogStores

/** Files on a disk that crashes, as a program with defects uses them. */
export function crashEngine(
  cutAt = Infinity,
  seed = 1,
  folders: WrapFolder = (folder) => folder,
  stores: WrapStores = (all) => all,
): EngineUnderTest {
  const booted = (disk: CrashDisk): EngineUnderTest => ({
    ...fileEngine(folders(disk.folder()), stores),
    faults: {
      fill: () => disk.injectFaults({ fullAtWrite: 1 }),
      free: () => disk.freeSpace(),
      failSync: () => disk.injectFaults({ badSyncAt: 1 }),
    },
    crash: {
      steps: () => disk.steps,
      afterCrash: () => booted(disk.afterCrash(seed)),
      afterKill: () => booted(disk.afterKill(seed)),
    },
  })
  return booted(new CrashDisk(seed, { powerCutAt: cutAt, shortWrites: true }))
}

function fileEngine(root: Folder, wrap: WrapStores = (all) => all): EngineUnderTest {
  const ids = systemIds(systemClock)
  const sessions = () => root.folder('sessions', 'create')
  const heads = () => root.folder('heads', 'create')
  return {
    process: async () =>
      wrap(
        fileStores({
          sessions: await sessions(),
          heads: await heads(),
          clock: immediateClock,
          ids,
          holder: HOLDER,
        }),
      ),
    revoke: async (session) => ifThere((await sessions()).remove(leaseName(session))),
    damage: {
      head: async (session) => overwrite(await heads(), session, Buffer.from('{"seq":')),
      index: async (session) => {
        const bytes = await rawBytes(await sessions(), indexName(session))
        bytes[bytes.length - 3] = (bytes[bytes.length - 3] ?? 0) ^ 1
        await overwrite(await sessions(), indexName(session), bytes)
      },
    },
  }
}

function memoryEngine(engine: MemoryEngine): EngineUnderTest {
  return {
    process: async () => memoryStores(engine, HOLDER),
    revoke: async (session) => engine.revoke(session),
    faults: {
      fill: () => engine.fail('full'),
      free: () => engine.fail(undefined),
      failSync: () => engine.fail('sync'),
    },
    crash: {
      steps: () => engine.steps,
      afterCrash: () => memoryEngine(engine.afterCrash()),
      afterKill: () => memoryEngine(engine.afterKill()),
    },
  }
}

/** This process, so that it counts as running. */
export const HOLDER = {
  pid: process.pid,
  program: 'contract',
  since: '2026-01-31T12:00:00.000Z',
}
