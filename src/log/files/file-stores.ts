import type { LogStores } from '../place.ts'
import { fileHeads } from './file-heads.ts'
import { fileIndexes } from './file-indexes.ts'
import { fileLeases, type FileLeasesParts } from './file-leases.ts'
import { fileLogs } from './file-logs.ts'
import type { HeadFiles } from './head-files.ts'

/** The folders of Logs and heads, and what writing to them needs. */
export type StoreFiles = FileLeasesParts & HeadFiles

/** The engine `files`: Logs, leases and indexes in the workspace, heads in the home of the user. */
export function fileStores(files: StoreFiles): LogStores {
  return {
    logs: fileLogs(files),
    heads: fileHeads(files),
    leases: fileLeases(files),
    indexes: fileIndexes(files),
  }
}
