import { fileStores, type StoreFiles } from '../../../src/log/files/file-stores.ts'
import type { Folder } from '../../../src/host/files/files.ts'
import type { Ids } from '../../../src/host/ids.ts'
import type { LogPlace } from '../../../src/log/place.ts'

/** A place of Logs in files whose folders a test can look into. */
export interface FilePlace extends LogPlace {
  readonly folders: { readonly sessions: Folder; readonly heads: Folder }
  /** The same place with other folders or another clock. */
  with(changes: Partial<PlaceFiles>): FilePlace
}

interface PlaceFiles extends StoreFiles {
  readonly ids: Ids
  readonly schemas?: string | undefined
}

export function filePlace(files: PlaceFiles): FilePlace {
  const { sessions, heads, clock, ids, schemas } = files
  return {
    ...fileStores(files),
    clock,
    ids,
    schemas,
    folders: { sessions, heads },
    with: (changes) => filePlace({ ...files, ...changes }),
  }
}

/** A place that a test got as part of a workspace. */
export function asFilePlace(place: LogPlace): FilePlace {
  if (isFilePlace(place)) return place
  throw new Error('the Logs of this place are not in files')
}

function isFilePlace(place: LogPlace): place is FilePlace {
  return 'folders' in place && 'with' in place
}
