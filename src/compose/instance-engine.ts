import type { Engine } from '../model/modes.ts'
import { fileFrameStore, type FileStoreParts } from '../tether/frames/files/file-store.ts'
import type { FrameStore } from '../tether/frames/frame-store.ts'
import { fileRecords, type FileRecordsParts } from '../tether/records/files/file-records.ts'
import { instanceWithSession } from '../tether/records/files/instance-with-session.ts'
import { recordStores, type RecordStoresParts } from '../tether/records/files/record-stores.ts'
import type { GuestRecords } from '../tether/records/guest-records.ts'

/** What each engine has of Instances. Apart from `engine.ts`, so that a command without Instances does not load it. */
interface InstanceEngine {
  readonly frames: (files: FileStoreParts) => FrameStore
  readonly records: (files: FileRecordsParts) => GuestRecords
  /** The records of all Instances in a workspace, for the sweep. */
  readonly allRecords: (files: RecordStoresParts) => ReturnType<typeof recordStores>
  /** The Instance whose records in a workspace have a Session; `own` is the `.hawser` of the workspace. */
  readonly withSession: typeof instanceWithSession
}

const ENGINES: Readonly<Record<Engine, InstanceEngine>> = {
  files: {
    frames: fileFrameStore,
    records: fileRecords,
    allRecords: recordStores,
    withSession: instanceWithSession,
  },
}

/** Where the frames and the records of Instances are stored, by the person's setting. */
export function instanceEngine(engine: Engine | undefined): InstanceEngine {
  return ENGINES[engine ?? 'files']
}
