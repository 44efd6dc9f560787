import { sha256 } from '../../../encoding/hash.ts'
import { workspaceBlobStore } from '../../../blobs/workspace-store.ts'
import type { Clock } from '../../../host/clock.ts'
import { inBlobsOf, inSessionsOf } from '../../../host/distrusted-workspace.ts'
import { asResult, closing, ifThere, type Folder } from '../../../host/files/files.ts'
import type { RecordsPlace } from '../../../host/files/records.ts'
import type { Ids } from '../../../host/ids.ts'
import { openRecords } from '../../../host/workspace.ts'
import { fileHeads } from '../../../log/files/file-heads.ts'
import { fileLogs } from '../../../log/files/file-logs.ts'
import { ok, type Result } from '../../../model/errors.ts'
import type { BlobKey } from '../../../model/ids.ts'
import type { FrameStore } from '../../frames/frame-store.ts'
import type { GuestHeads, GuestRecords } from '../guest-records.ts'
import { readGuestBlob } from './guest-blob.ts'
import { prepareRecords } from './prepare-records.ts'

export interface FileRecordsParts {
  /** `$HAWSER_HOME`. */
  readonly home: Folder
  /** Frames name blobs too. */
  readonly frames: Pick<FrameStore, 'raw'>
  readonly clock: Clock
  readonly ids: Ids
}

/** Records as folders in the `.hawser` of each workspace, and heads in the folder of each Instance, see ADR 20. */
export function fileRecords(parts: FileRecordsParts): GuestRecords {
  const { ids } = parts
  return {
    prepare: (place, options, mode) =>
      prepareRecords(
        place,
        { ...parts, ...options, headsOf: (at) => headsOf(parts.home, at) },
        mode,
      ),
    inLogs: (place, work) => inSessionsOf(place, (sessions) => work(fileLogs({ sessions, ids }))),
    heads: (instance, workspace) =>
      asResult('open the heads of the agent', async () =>
        ok(guestHeads(await createdHeads(parts.home, instance, workspace), ids)),
      ),
    storeBlob: (place, bytes, mediaType) => storeBlob(parts, place, bytes, mediaType),
    readBlob: readGuestBlob,
    blobSize: (place, blob) =>
      asResult('read an image of the agent', async () =>
        ok(
          await inBlobsOf(place, async (folder) => {
            const file = await ifThere(folder.open(blob, 'read'))
            return file && closing(file, async () => (await file.stat()).size)
          }),
        ),
      ),
  }
}

async function storeBlob(
  { ids, clock }: FileRecordsParts,
  place: RecordsPlace,
  bytes: Buffer,
  mediaType: string,
): Promise<Result<BlobKey>> {
  const folders = await openRecords(place)
  if (!folders.ok) return folders
  return closing(folders.value, ({ blobs: folder }) =>
    workspaceBlobStore({ folder, ids, clock }).put([bytes], mediaType),
  )
}

function guestHeads(heads: Folder, ids: Ids): GuestHeads {
  return { ...fileHeads({ heads, ids }), close: () => heads.close() }
}

/** Below the folder of the Instance, one folder for each workspace: after it was changed, other Logs are the ones to grow. */
function headsPath(instance: string, workspace: string): readonly string[] {
  return ['instances', instance, 'heads', sha256(workspace).slice(0, 32)]
}

async function headsOf(
  home: Folder,
  { instance, workspace }: { readonly instance: string; readonly workspace: string },
): Promise<Folder | undefined> {
  return below(home, headsPath(instance, workspace), (parent, name) =>
    ifThere(parent.folder(name, 'open')),
  )
}

/** Creates a folder only if it is missing, because that waits for the disk. */
async function createdHeads(home: Folder, instance: string, workspace: string): Promise<Folder> {
  return below(home, headsPath(instance, workspace), async (parent, name) => {
    return (await ifThere(parent.folder(name, 'open'))) ?? parent.folder(name, 'create')
  })
}

/** Goes from folder to folder, and closes all but the first and the last. */
async function below<F extends Folder | undefined>(
  home: Folder,
  [first = '', ...rest]: readonly string[],
  step: (parent: Folder, name: string) => Promise<F>,
): Promise<F> {
  let folder = await step(home, first)
  for (const name of rest) {
    if (folder === undefined) return folder
    folder = await closing(folder, (parent) => step(parent, name))
  }
  return folder
}
