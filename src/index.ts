export { ERROR_KINDS } from './model/errors.ts'
export type { ErrorKind, HawserError, NextAction, Result } from './model/errors.ts'
export { BLOB_EXTENSIONS } from './model/ids.ts'
export type { BlobMediaType } from './model/ids.ts'
