import { expect, test } from 'vitest'
import { ok } from '../../../src/model/errors.ts'
import type { File, Folder } from '../../../src/host/files/files.ts'
import {
  hiddenName,
  indexName,
  logName,
  sessionsNamed,
  tornName,
} from '../../../src/log/files/names.ts'
import type { Fence } from '../../../src/log/lease-store.ts'
import type { LogStore, WritableLog } from '../../../src/log/log-store.ts'
import type { LogStores } from '../../../src/log/place.ts'
import { PLANTED_BUGS, withBug } from '../../support/host/planted-bugs.ts'
import { HEAD_STORE_CONTRACT } from './head-store.ts'
import { INDEX_STORE_CONTRACT } from './index-store.ts'
import { LEASE_STORE_CONTRACT } from './lease-store.ts'
import { LOG_STORE_CONTRACT } from './log-store.ts'
import {
  crashEngine,
  ENGINES,
  type MakeEngine,
  type WrapFolder,
  type WrapStores,
} from './stores-under-test.ts'

/** What the crash disk can judge, which is everything but real processes. */
const ALL = [
  ...LEASE_STORE_CONTRACT,
  ...INDEX_STORE_CONTRACT,
  ...HEAD_STORE_CONTRACT,
  ...LOG_STORE_CONTRACT,
].filter(({ needs = [] }) =>
  needs.every((one) => ENGINES['files on a disk that crashes and writes short']?.has.includes(one)),
)

/** Changes of a Log that is open to write, with the plain folder of the engine. */
type WrapLog = (log: WritableLog, session: string) => WritableLog

const own = (log: WritableLog): WritableLog => ({
  stat: () => log.stat(),
  read: (into, position) => log.read(into, position),
  sync: () => log.sync(),
  append: (bytes, at) => log.append(bytes, at),
  settle: (from, work) => log.settle(from, work),
  cut: (offset, piece) => log.cut(offset, piece),
  pieces: (seq) => log.pieces(seq),
  close: () => log.close(),
})

function writing(wrap: WrapLog): WrapStores {
  return (stores) => ({
    ...stores,
    logs: {
      ...stores.logs,
      create: async (session, fence) => wrap(await stores.logs.create(session, fence), session),
      openToWrite: async (session) => {
        const log = await stores.logs.openToWrite(session)
        return log && { ...log, under: (fence) => wrap(log.under(fence), session) }
      },
    },
  })
}

const logs =
  (change: (logs: LogStore, root: Folder, stores: LogStores) => Partial<LogStore>): WrapStores =>
  (stores, root) => ({
    ...stores,
    logs: { ...stores.logs, ...change(stores.logs, root, stores) },
  })

const heads =
  (change: (heads: LogStores['heads']) => Partial<LogStores['heads']>): WrapStores =>
  (stores) => ({ ...stores, heads: { ...stores.heads, ...change(stores.heads) } })

const leases =
  (change: (leases: LogStores['leases']) => Partial<LogStores['leases']>): WrapStores =>
  (stores) => ({ ...stores, leases: { ...stores.leases, ...change(stores.leases) } })

/** Defects of how the implementation uses its folders and files. */
const OF_FILES: Readonly<Record<string, WrapFolder>> = {
  ...Object.fromEntries(
    PLANTED_BUGS.map((bug): [string, WrapFolder] => [bug, (folder) => withBug(folder, bug)]),
  ),
  lock_not_checked: changing(() => ({ tryLock: async () => true })),
  no_rollback: changing(() => ({ truncate: async () => {} })),
  name_of_the_lease_not_checked: changing((file) => ({
    hasName: () => true,
    stat: async () => ({ ...(await file.stat()), links: 1 }),
  })),
  settled_without_writing_again: changing(() => ({ writeAt: async () => {} })),
  append_overwrites_the_last_byte: changing((file) => ({
    write: async (bytes) => {
      const { size } = await file.stat()
      if (size > 40 && bytes.length > 1) await file.truncate(size - 1)
      return file.write(bytes)
    },
  })),
}

const ALWAYS: Fence = { epoch: 'always', mayHold: () => true, holds: async () => true }

/** Defects of what the implementation decides and returns. */
const OF_STORES: Readonly<Record<string, WrapStores>> = {
  lease_never_lost: leases((all) => ({
    take: async (session) => {
      const lease = await all.take(session)
      return lease.ok ? ok({ ...lease.value, mayHold: () => true, holds: async () => true }) : lease
    },
  })),
  one_epoch_for_all: leases((all) => ({
    take: async (session) => {
      const lease = await all.take(session)
      return lease.ok ? ok({ ...lease.value, epoch: 'always' }) : lease
    },
  })),
  abandoned_leases_are_forgotten: leases((all) => ({
    take: async (session) => {
      const lease = await all.take(session)
      return lease.ok ? ok({ ...lease.value, abandonedBy: undefined }) : lease
    },
  })),
  a_lease_that_is_given_back_is_released: leases((all) => ({
    take: async (session) => {
      const lease = await all.take(session)
      return lease.ok ? ok({ ...lease.value, giveBack: () => lease.value.release() }) : lease
    },
  })),
  nothing_runs_alone: leases(() => ({ alone: (work) => work() })),
  alone_ends_with_the_first_failure: leases((all) => {
    let failed = false
    return {
      alone: (work) =>
        all.alone(() => {
          if (failed) throw new Error('held')
          return work().catch((error: unknown) => {
            failed = true
            throw error
          })
        }),
    }
  }),
  hidden_logs_are_listed: logs((all) => ({
    list: async () => [...(await all.list()), ...(await all.listHidden())],
  })),
  hidden_logs_cannot_be_opened: logs((all) => ({
    open: async (session) => ((await all.isHidden(session)) ? undefined : all.open(session)),
  })),
  hiding_is_not_fenced: logs((all) => ({
    hide: (session) => all.hide(session, ALWAYS),
  })),
  hiding_is_not_durable: logs((all, root) => ({
    hide: async (session, fence) => {
      if (!fence.mayHold()) return all.hide(session, fence)
      const folder = await root.folder('sessions', 'create')
      await (await folder.open(hiddenName(session), 'lease')).close()
      for (const name of await folder.names())
        if (name.startsWith(tornName(session, ''))) await folder.remove(name)
    },
  })),
  hiding_keeps_the_pieces: logs((all, root) => ({
    hide: async (session, fence) => {
      if (!fence.mayHold()) return all.hide(session, fence)
      const folder = await root.folder('sessions', 'create')
      const marker = await folder.open(hiddenName(session), 'lease')
      await marker.sync()
      await marker.close()
      await folder.sync()
    },
  })),
  cut_without_keeping: writing((log) => ({
    ...own(log),
    cut: (offset, { seq }) => log.cut(offset, { seq, bytes: Buffer.alloc(0) }),
  })),
  failed_writer_continues: writing((log) => ({
    ...own(log),
    append: async (bytes, at) => {
      const failure = await log.append(bytes, at)
      return failure && { error: failure.error }
    },
  })),
  place_of_an_append_ignored: writing((log) => ({
    ...own(log),
    append: async (bytes) => log.append(bytes, (await log.stat()).size),
  })),
  leases_are_listed_as_logs: logs((all, _root, stores) => ({
    list: async () => [
      ...new Set([...(await all.list()), ...(await stores.leases.beingWritten())]),
    ],
  })),
  changes_are_not_reported: logs(() => ({ watch: async () => undefined })),
  followers_are_called_after_they_closed: logs((all) => ({
    watch: async (session, changed) => {
      const watching = await all.watch(session, changed)
      return watching && { close: () => {} }
    },
  })),
  pieces_are_named_by_their_number: logs((all) => ({
    each: (visit) => all.each((name, bytes) => visit(name.replace(/^.*\.torn-/, 'torn-'), bytes)),
  })),
  delete_forgets_nothing: logs(() => ({ delete: async () => true })),
  deletion_is_not_durable: logs((all, root) => ({
    delete: async (session, fence) => {
      if (!fence.mayHold()) return all.delete(session, fence)
      const folder = await root.folder('sessions', 'create')
      const names = await folder.names()
      const gone = names.filter((name) => name.startsWith(session) && !name.endsWith('.lease'))
      for (const name of gone) await folder.remove(name)
      return names.includes(logName(session))
    },
  })),
  pieces_are_deleted_first: logs((all, root) => ({
    delete: async (session, fence) => {
      if (!fence.mayHold()) return all.delete(session, fence)
      const folder = await root.folder('sessions', 'create')
      for (const name of await folder.names())
        if (name.startsWith(`${session}.torn-`)) await folder.remove(name)
      await folder.sync()
      return all.delete(session, fence)
    },
  })),
  raw_bytes_once: logs((all, root) => ({
    each: async (visit) => {
      const folder = await root.folder('sessions', 'create')
      for (const session of sessionsNamed(await folder.names(), '.ndjson')) {
        const log = await all.open(session)
        const bytes = Buffer.alloc((await log?.stat())?.size ?? 0)
        await log?.read(bytes, 0)
        await visit(logName(session), only(bytes))
      }
      return undefined
    },
  })),
  damaged_head_is_absent: heads((all) => ({
    read: async (session) => {
      const head = await all.read(session)
      return head.ok ? head : ok(undefined)
    },
  })),
  removal_of_a_head_is_not_settled: heads(() => ({ settle: async () => {} })),
  everything_in_heads_is_listed: heads((all) => ({
    list: async () => [...(await all.list()), ...(await all.writtenOrder()).keys()],
  })),
  index_is_believed: (stores, root) => ({
    ...stores,
    indexes: {
      ...stores.indexes,
      read: async (session) => {
        const record = await stores.indexes.read(session)
        if (record !== undefined) return record
        const folder = await root.folder('sessions', 'create')
        const isThere = (await folder.names()).includes(indexName(session))
        const through = { through_seq: 1, through_offset: 11, through_hash: 'x' }
        return isThere ? { fold: 'text-1', ...through, state: '{}' } : undefined
      },
    },
  }),
}

const DEFECTS: Readonly<Record<string, MakeEngine>> = {
  ...Object.fromEntries(
    Object.entries(OF_FILES).map(([name, wrap]): [string, MakeEngine] => [
      name,
      async (cutAt, seed) => crashEngine(cutAt, seed, wrap),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(OF_STORES).map(([name, wrap]): [string, MakeEngine] => [
      name,
      async (cutAt, seed) => crashEngine(cutAt, seed, undefined, wrap),
    ]),
  ),
}

/** The title of the first check that an engine fails. */
async function failedBy(make: MakeEngine): Promise<string | undefined> {
  for (const { title, check } of ALL) {
    const isKept = await check(make).then(
      () => true,
      () => false,
    )
    if (!isKept) return title
  }
  return undefined
}

test.each(Object.entries(DEFECTS))('the suites catch the defect %s', async (_, make) => {
  expect(await failedBy(make)).toBeDefined()
})

test.each<[string, MakeEngine]>([
  ['as it is', async (cutAt, seed) => crashEngine(cutAt, seed)],
  [
    'behind files and stores that change nothing',
    async (cutAt, seed) =>
      crashEngine(
        cutAt,
        seed,
        changing(() => ({})),
        writing(own),
      ),
  ],
])('the suites catch nothing in the implementation %s', async (_, make) => {
  expect(await failedBy(make)).toBeUndefined()
})

test('there are at least ten defects', () => {
  expect(Object.keys(DEFECTS).length).toBeGreaterThanOrEqual(10)
})

/** Every file of the folder with some other methods. */
function changing(changes: (file: File) => Partial<File>): WrapFolder {
  return (folder) => ({
    label: folder.label,
    folder: async (name, mode) => changing(changes)(await folder.folder(name, mode)),
    open: async (name, mode) => {
      const file = plainFile(await folder.open(name, mode))
      return { ...file, ...changes(file) }
    },
    rename: (from, to) => folder.rename(from, to),
    remove: (name) => folder.remove(name),
    names: () => folder.names(),
    sync: () => folder.sync(),
    watch: (name, changed) => folder.watch(name, changed),
    close: () => folder.close(),
  })
}

function plainFile(file: File): File {
  return {
    stat: () => file.stat(),
    hasName: () => file.hasName(),
    read: (into, position) => file.read(into, position),
    write: (bytes) => file.write(bytes),
    writeAt: (bytes, position) => file.writeAt(bytes, position),
    truncate: (size) => file.truncate(size),
    datasync: () => file.datasync(),
    sync: () => file.sync(),
    touch: () => file.touch(),
    tryLock: () => file.tryLock(),
    close: () => file.close(),
  }
}

async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
