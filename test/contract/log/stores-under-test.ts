import { onTestFinished } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { diskFolder } from '../../../src/host/files/disk.ts'
import { ifThere, type Folder } from '../../../src/host/files/files.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { fileStores } from '../../../src/log/files/file-stores.ts'
import { indexName, leaseName, logName } from '../../../src/log/files/names.ts'
import type { LogStores } from '../../../src/log/place.ts'
import type { SessionId } from '../../../src/model/ids.ts'
import { CrashDisk } from '../../support/host/crash-disk.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { immediateClock } from '../../support/log/log-place.ts'
import { MemoryEngine } from '../../support/log/memory-engine.ts'
import { memoryStores } from '../../support/log/memory-stores.ts'
import { overwrite, rawBytes } from '../../support/log/raw-log.ts'
import { startProgram, type StoreProgram } from './store-program.ts'

/** The stores of an engine, and what only a test can do to them. */
export interface EngineUnderTest {
  /** The stores as one process has them; each call is another process. */
  readonly process: () => Promise<LogStores>
  /** Takes the lease away from its holder without telling it. */
  readonly revoke: (session: SessionId) => Promise<void>
  readonly outside?: Outside
  readonly faults?: Faults
  readonly crash?: Crash
  /** Starts a real process that uses the same stores. */
  readonly program?: () => StoreProgram
}

/** What another program can do to the files of an engine. */
interface Outside {
  /** Changes the bytes of a stored head, index, or the order of Sessions. */
  readonly head: (session: SessionId, change: Change) => Promise<void>
  readonly index: (session: SessionId, change: Change) => Promise<void>
  readonly order: (change: Change) => Promise<void>
  /** Puts a folder in the place of a file that does not exist yet. */
  readonly obstruct: (what: 'lease' | 'index' | 'head', session: SessionId) => Promise<void>
  /** Puts files beside the Logs whose names are almost those of a Log. */
  readonly plantNames: (session: SessionId) => Promise<void>
  /** How many pieces interrupted writes have left. */
  readonly leftovers: () => Promise<number>
}

type Change = (bytes: Buffer) => Buffer

interface Faults {
  /** No more bytes fit until `free`; a write may first succeed in part. */
  readonly fill: () => void
  readonly free: () => void
  /** The next step that makes bytes durable fails. */
  readonly failSync: () => void
  /** The same, and what was written cannot be rolled back. */
  readonly failSyncAndRollback: () => void
}

interface Crash {
  /** Calls so far at which the power could be cut. */
  readonly steps: () => number
  /** What the next boot finds. */
  readonly afterCrash: () => EngineUnderTest
  /** What another process finds after the first was killed. */
  readonly afterKill: () => EngineUnderTest
}

type Need = 'outside' | 'faults' | 'crash' | 'program'

/** A new, empty engine; `cutAt` is the step at which the power is cut, for those that can. */
export type MakeEngine = (cutAt?: number, seed?: number) => Promise<EngineUnderTest>

/** A check of a contract: it throws if the engine breaks a promise. */
export interface ContractCheck {
  readonly title: string
  /** What an engine must have to be judged. */
  readonly needs?: readonly Need[]
  readonly check: (make: MakeEngine) => Promise<void>
}

export interface JudgedEngine {
  readonly has: readonly Need[]
  readonly make: MakeEngine
}

export const ENGINES: Readonly<Record<string, JudgedEngine>> = {
  'files on a disk': {
    has: ['outside', 'program'],
    make: async () => {
      const path = await freshFolder()
      const root = await diskFolder(path)
      const opened: Folder[] = [root]
      onTestFinished(async () => void (await Promise.all(opened.map((one) => one.close()))))
      const program = () => startProgram(path)
      return { ...fileEngine(closedLater(root, opened)), program }
    },
  },
  'files on a disk that crashes and writes short': {
    has: ['outside', 'faults', 'crash'],
    make: async (cutAt, seed) => crashEngine(cutAt, seed),
  },
  'stores in memory': {
    has: ['faults', 'crash'],
    make: async (cutAt) => memoryEngine(new MemoryEngine(cutAt)),
  },
}

/** Remembers the folders that are opened, because no test closes them. */
function closedLater(root: Folder, opened: Folder[]): Folder {
  return {
    label: root.label,
    folder: async (name, mode) => {
      const folder = await root.folder(name, mode)
      opened.push(folder)
      return folder
    },
    open: (name, mode) => root.open(name, mode),
    rename: (from, to) => root.rename(from, to),
    remove: (name) => root.remove(name),
    names: () => root.names(),
    sync: () => root.sync(),
    watch: (name, changed) => root.watch(name, changed),
    close: () => root.close(),
  }
}

/** A part of an engine that a check needs. */
export function need<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('this engine does not have what the check needs')
  return part
}

export type WrapFolder = (folder: Folder) => Folder
export type WrapStores = (stores: LogStores, root: Folder) => LogStores

/** Files on a disk that crashes, as a program with defects uses them. */
export function crashEngine(
  cutAt = Infinity,
  seed = 1,
  folders: WrapFolder = (folder) => folder,
  stores: WrapStores = (all) => all,
): EngineUnderTest {
  const booted = (disk: CrashDisk): EngineUnderTest => ({
    ...fileEngine(folders(disk.folder()), stores, disk.folder()),
    faults: {
      fill: () => disk.injectFaults({ fullAtWrite: 1 }),
      free: () => disk.injectFaults({}),
      failSync: () => disk.injectFaults({ badSyncAt: 1 }),
      failSyncAndRollback: () => disk.injectFaults({ badSyncAt: 1, badTruncate: true }),
    },
    crash: {
      steps: () => disk.steps,
      afterCrash: () => booted(disk.afterCrash(seed)),
      afterKill: () => booted(disk.afterKill(seed)),
    },
  })
  return booted(new CrashDisk(seed, { powerCutAt: cutAt, shortWrites: true }))
}

/** `plain` is the folder without defects. */
function fileEngine(root: Folder, wrap: WrapStores = (all) => all, plain = root): EngineUnderTest {
  const ids = systemIds(systemClock)
  const sessions = () => plain.folder('sessions', 'create')
  const heads = () => plain.folder('heads', 'create')
  const change = async (folder: Folder, name: string, how: Change) =>
    overwrite(folder, name, how(await rawBytes(folder, name)))
  return {
    process: async () => {
      const own = await root.folder('sessions', 'create')
      const vouching = await root.folder('heads', 'create')
      const parts = { sessions: own, heads: vouching, clock: immediateClock, ids, holder: HOLDER }
      return wrap(fileStores(parts), plain)
    },
    revoke: async (session) => ifThere((await sessions()).remove(leaseName(session))),
    outside: {
      head: async (session, how) => change(await heads(), session, how),
      index: async (session, how) => change(await sessions(), indexName(session), how),
      order: async (how) => change(await heads(), 'order', how),
      obstruct: async (what, session) => {
        const [folder, name] =
          what === 'head'
            ? [await heads(), session]
            : [await sessions(), what === 'lease' ? leaseName(session) : indexName(session)]
        await (await folder.folder(name, 'create')).close()
      },
      plantNames: async (session) => {
        const names = [`${logName(session)}.bak`, `x${logName(session)}`, '.ndjson', 'ses_.ndjson']
        for (const name of names) await overwrite(await sessions(), name, Buffer.from('x'))
      },
      leftovers: async () => {
        const names = [...(await (await sessions()).names()), ...(await (await heads()).names())]
        return names.filter((name) => name.startsWith('.tmp-')).length
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
      failSyncAndRollback: () => engine.fail('sync and rollback'),
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
