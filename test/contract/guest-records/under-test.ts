import type { FolderPlace } from '../../../src/host/files/disk.ts'
import type { RecordsPlace } from '../../../src/host/files/records.ts'
import { InstanceId, type SessionId } from '../../../src/model/ids.ts'
import type { GuestRecords, InstancePlace } from '../../../src/tether/records/guest-records.ts'

/** New, empty records, and what only a guest or a test can do to them. */
export interface RecordsUnderTest {
  readonly records: GuestRecords
  /** The same storage as another process sees it, also after the first one was killed. */
  readonly other: GuestRecords
  /** A workspace that was never used. */
  readonly workspace: () => Promise<FolderPlace>
  /** A guest writes a Log. */
  readonly writeLog: (place: RecordsPlace, session: SessionId, bytes: Buffer) => Promise<void>
  /** A guest replaces the bytes of a blob; `undefined` removes it. */
  readonly replaceBlob: (
    place: RecordsPlace,
    key: string,
    bytes: Buffer | undefined,
  ) => Promise<void>
  /** What a guest on a disk can also do. */
  readonly links?: GuestLinks
}

export interface GuestLinks {
  /** Puts a link in the place of its Logs, its blobs or all of its records, which leads to a folder outside. */
  readonly lead: (place: RecordsPlace, what: 'sessions' | 'blobs' | 'all') => Promise<void>
  /** Puts a link to a file outside with these bytes in the place of a blob or of a Log. */
  readonly leadFile: (
    place: RecordsPlace,
    what: 'sessions' | 'blobs',
    name: string,
    bytes: Buffer,
  ) => Promise<void>
  /** The names in the folder outside. */
  readonly outside: () => Promise<readonly string[]>
}

/** A check of the contract: it throws if a promise is broken. */
export interface RecordsCase {
  readonly title: string
  /** It needs `links`. */
  readonly links?: true
  readonly run: (under: RecordsUnderTest) => Promise<void>
}

export const ONE = InstanceId.parse(`ins_${'1'.repeat(26)}`)
export const TWO = InstanceId.parse(`ins_${'2'.repeat(26)}`)

/** Records that were created for an Instance in a new workspace, or in this one. */
export async function prepared(
  { records, workspace }: RecordsUnderTest,
  instance: InstanceId = ONE,
  at?: FolderPlace,
): Promise<InstancePlace> {
  const place = { workspace: at ?? (await workspace()), instance }
  const made = await records.prepare(place, { isMapped: false }, 'create')
  if (!made.ok) throw new Error(made.error.message)
  return { ...made.value, instance }
}
