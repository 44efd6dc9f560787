import { expect, test } from 'vitest'
import { ok } from '../../../src/model/errors.ts'
import type { File } from '../../../src/host/files/files.ts'
import type { WritableLog } from '../../../src/log/log-store.ts'
import { PLANTED_BUGS, withBug } from '../../support/host/planted-bugs.ts'
import { HEAD_STORE_CONTRACT } from './head-store.ts'
import { INDEX_STORE_CONTRACT } from './index-store.ts'
import { LEASE_STORE_CONTRACT } from './lease-store.ts'
import { LOG_STORE_CONTRACT } from './log-store.ts'
import {
  crashEngine,
  type MakeEngine,
  type WrapFolder,
  type WrapStores,
} from './stores-under-test.ts'

const ALL = [
  ...LOG_STORE_CONTRACT,
  ...HEAD_STORE_CONTRACT,
  ...LEASE_STORE_CONTRACT,
  ...INDEX_STORE_CONTRACT,
]

/** A defect of the implementation in files: of how it uses folders, or of what it returns. */
const DEFECTS: Readonly<Record<string, MakeEngine>> = {
  ...Object.fromEntries(
    PLANTED_BUGS.map((bug): [string, MakeEngine] => [
      bug,
      async (cutAt, seed) => crashEngine(cutAt, seed, (folder) => withBug(folder, bug)),
    ]),
  ),
  lock_not_checked: async (cutAt, seed) =>
    crashEngine(cutAt, seed, changing({ tryLock: async () => true })),
  no_rollback: async (cutAt, seed) =>
    crashEngine(cutAt, seed, changing({ truncate: async () => {} })),
  lease_never_lost: planted((stores) => ({
    ...stores,
    leases: {
      ...stores.leases,
      take: async (session) => {
        const lease = await stores.leases.take(session)
        return lease.ok
          ? ok({ ...lease.value, mayHold: () => true, holds: async () => true })
          : lease
      },
    },
  })),
  one_epoch_for_all: planted((stores) => ({
    ...stores,
    leases: {
      ...stores.leases,
      take: async (session) => {
        const lease = await stores.leases.take(session)
        return lease.ok ? ok({ ...lease.value, epoch: 'always' }) : lease
      },
    },
  })),
  cut_without_keeping: planted((stores) => ({
    ...stores,
    logs: {
      ...stores.logs,
      create: async (session, fence) => cuttingAll(await stores.logs.create(session, fence)),
    },
  })),
  damaged_head_is_absent: planted((stores) => ({
    ...stores,
    heads: {
      ...stores.heads,
      read: async (session) => {
        const head = await stores.heads.read(session)
        return head.ok ? head : ok(undefined)
      },
    },
  })),
  leases_are_listed_as_logs: planted((stores) => ({
    ...stores,
    logs: {
      ...stores.logs,
      list: async () => [
        ...new Set([...(await stores.logs.list()), ...(await stores.leases.beingWritten())]),
      ],
    },
  })),
  delete_forgets_nothing: planted((stores) => ({
    ...stores,
    logs: { ...stores.logs, delete: async () => true },
  })),
}

function planted(stores: WrapStores): MakeEngine {
  return async (cutAt, seed) => crashEngine(cutAt, seed, undefined, stores)
}

test.each(Object.keys(DEFECTS))('the suites catch the defect %s', async (name) => {
  const make = DEFECTS[name]
  if (make === undefined) throw new Error('there is no such defect')
  const caught: string[] = []
  for (const { title, check } of ALL) {
    const fault = await check(make).then(
      () => undefined,
      (error: unknown) => error,
    )
    if (fault !== undefined) caught.push(title)
    if (caught.length > 0) break
  }
  expect(caught).not.toEqual([])
})

test('the suites catch nothing in the implementation without a defect', async () => {
  const make: MakeEngine = async (cutAt, seed) => crashEngine(cutAt, seed)
  for (const { check } of ALL) await expect(check(make)).resolves.toBeUndefined()
})

test('there are at least ten defects', () => {
  expect(Object.keys(DEFECTS).length).toBeGreaterThanOrEqual(10)
})

/** Every file of the folder does this instead. */
const changing =
  (changes: Partial<File>): WrapFolder =>
  (folder) => ({
    label: folder.label,
    folder: async (name, mode) => changing(changes)(await folder.folder(name, mode)),
    open: async (name, mode) => ({ ...plainFile(await folder.open(name, mode)), ...changes }),
    rename: (from, to) => folder.rename(from, to),
    remove: (name) => folder.remove(name),
    names: () => folder.names(),
    sync: () => folder.sync(),
    watch: (name, changed) => folder.watch(name, changed),
    close: () => folder.close(),
  })

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

function cuttingAll(log: WritableLog): WritableLog {
  return {
    stat: () => log.stat(),
    read: (into, position) => log.read(into, position),
    sync: () => log.sync(),
    append: (bytes, at) => log.append(bytes, at),
    settle: (from, work) => log.settle(from, work),
    cut: (offset, { seq }) => log.cut(offset, { seq, bytes: Buffer.alloc(0) }),
    pieces: (seq) => log.pieces(seq),
    close: () => log.close(),
  }
}
