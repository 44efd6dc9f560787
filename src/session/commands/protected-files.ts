import type { BlobStore } from '../../blobs/store.ts'
import { Redactor } from '../../encoding/redaction.ts'
import type { KeepMovedFile } from '../../host/sandbox/watch/move-aside.ts'
import type { TurnParts } from '../../turn/parts/turn-parts.ts'

/** Stores files that a program created at a protected path, redacted. */
export function keepRedacted({
  store,
  secrets,
}: {
  readonly store: BlobStore
  readonly secrets: readonly string[]
}): KeepMovedFile {
  const redactor = new Redactor(secrets)
  return (_path, content) => store.put(redactor.chunks(content), 'application/octet-stream')
}

/** Finds new files at protected paths. */
export function inspectSince({
  workspace: { path: workspace },
  tools: { protectedPaths },
}: {
  readonly workspace: { readonly path: string }
  readonly tools: { readonly protectedPaths: readonly string[] }
}): TurnParts['tools']['inspection']['since'] {
  return async (places) => {
    const inspect = await import('../../host/sandbox/inspect.ts')
    return inspect.inspectSince({ workspace, protectedPaths }, places)
  }
}
