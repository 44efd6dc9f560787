import { fileStores, type StoreFiles } from '../log/files/file-stores.ts'
import type { LogStores } from '../log/place.ts'
import type { Engine } from '../model/modes.ts'

/** The stores of each engine. Only this file names their implementations for the Sessions of a workspace. */
const ENGINES: Readonly<Record<Engine, (files: StoreFiles) => LogStores>> = { files: fileStores }

/** Where Logs, heads, leases and indexes are stored, by the person's setting. */
export function logStores(engine: Engine | undefined, files: StoreFiles): LogStores {
  return ENGINES[engine ?? 'files'](files)
}
