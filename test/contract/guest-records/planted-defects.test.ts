import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { recordsPath } from '../../../src/host/files/records.ts'
import { ok } from '../../../src/model/errors.ts'
import { ImageReference } from '../../../src/model/tether/frame.ts'
import type { GuestRecords } from '../../../src/tether/records/guest-records.ts'
import { GUEST_RECORDS_CASES } from './cases.ts'
import { realRecords } from './stores.ts'
import { ONE, TWO } from './under-test.ts'

/** What an implementation in files can get wrong. */
const DEFECTS: Readonly<Record<string, (records: GuestRecords) => Partial<GuestRecords>>> = {
  opening_creates: (records) => ({
    prepare: (place, options) => records.prepare(place, options, 'create'),
  }),
  creates_nothing: (records) => ({
    prepare: (place, options) => records.prepare(place, options, 'open'),
  }),
  one_place_for_all_instances: (records) => ({
    prepare: (place, options, mode) => records.prepare({ ...place, instance: ONE }, options, mode),
    inLogs: (place, work) => records.inLogs({ ...place, instance: ONE }, work),
  }),
  one_head_for_all_instances: (records) => ({
    heads: (_instance, workspace) => records.heads(ONE, workspace),
  }),
  one_head_for_all_workspaces: (records) => ({ heads: (instance) => records.heads(instance, '/') }),
  errors_of_the_work_are_lost: (records) => ({
    inLogs: (place, work) => records.inLogs(place, work).catch(() => undefined),
  }),
  no_logs_for_others: (records) => ({
    inLogs: (place, work) =>
      place.instance === TWO ? Promise.resolve(undefined) : records.inLogs(place, work),
  }),
  blobs_are_not_verified: (records) => ({
    readBlob: async (place, named) => {
      const read = await records.readBlob(place, named)
      const reference = ImageReference.safeParse(named)
      if (read.ok || !reference.success) return read
      const path = join(recordsPath(place), 'blobs', reference.data.blob)
      return readFile(path).then(ok, () => read)
    },
  }),
  only_the_size_is_verified: (records) => ({
    readBlob: async (place, named) => {
      const read = await records.readBlob(place, named)
      const reference = ImageReference.safeParse(named)
      if (read.ok || !reference.success) return read
      const path = join(recordsPath(place), 'blobs', reference.data.blob)
      const bytes = await readFile(path).catch(() => undefined)
      return bytes?.length === reference.data.size ? ok(bytes) : read
    },
  }),
  references_are_not_checked: (records) => ({
    readBlob: async (place, named) => {
      const read = await records.readBlob(place, named)
      const isInvalid = !read.ok && read.error.kind === 'invalid_args'
      return isInvalid ? ok(Buffer.alloc(0)) : read
    },
  }),
  size_is_that_of_the_reference: (records) => ({
    blobSize: async (place, blob) => {
      const size = await records.blobSize(place, blob)
      return size.ok && size.value === undefined ? ok(0) : size
    },
  }),
  any_type_is_stored: (records) => ({
    storeBlob: (place, bytes) => records.storeBlob(place, bytes, 'image/png'),
  }),
}

/** The title of the first promise that records break. */
async function brokenPromise(change: (records: GuestRecords) => Partial<GuestRecords>) {
  for (const { title, run } of GUEST_RECORDS_CASES) {
    const under = await realRecords((records) => ({ ...records, ...change(records) }))
    const isKept = await run(under).then(
      () => true,
      () => false,
    )
    await under.close()
    if (!isKept) return title
  }
  return undefined
}

test.each(Object.entries(DEFECTS))('the suite finds the defect %s by itself', async (_, change) => {
  expect(await brokenPromise(change)).toBeDefined()
})

test('the suite finds nothing wrong with the records as they are', async () => {
  expect(await brokenPromise(() => ({}))).toBeUndefined()
  expect(Object.keys(DEFECTS).length).toBeGreaterThanOrEqual(10)
})
