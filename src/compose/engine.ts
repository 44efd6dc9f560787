import type { BlobStore } from '../blobs/store.ts'
import { workspaceBlobStore, type StoreParts } from '../blobs/workspace-store.ts'
import { fileStores, type StoreFiles } from '../log/files/file-stores.ts'
import type { LogStores } from '../log/place.ts'
import type { Engine } from '../model/modes.ts'

/** What each engine has for the Sessions of a workspace. Only this file names their implementations. */
interface SessionEngine {
  /** Logs, heads, leases and indexes. */
  readonly logs: (files: StoreFiles) => LogStores
  readonly blobs: (files: StoreParts) => BlobStore
}

const ENGINES: Readonly<Record<Engine, SessionEngine>> = {
  files: { logs: fileStores, blobs: workspaceBlobStore },
}

/** Where Logs, heads, leases, indexes and blobs are stored, by the person's setting. */
export function sessionEngine(engine: Engine | undefined): SessionEngine {
  return ENGINES[engine ?? 'files']
}
