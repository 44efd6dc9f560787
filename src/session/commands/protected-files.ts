import type { BlobStore } from '../../blobs/store.ts'
import { Redactor } from '../../encoding/redaction.ts'
import type { KeepMovedFile } from '../../host/sandbox/watch/move-aside.ts'
import type { FolderIdentity } from '../../model/folder-identity.ts'
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
  workspace: { path: workspace, identity, home },
  tools: { protectedPaths, ofGuest = false },
}: {
  readonly workspace: {
    readonly path: string
    readonly identity?: FolderIdentity | undefined
    readonly home: string
  }
  readonly tools: { readonly protectedPaths: readonly string[]; readonly ofGuest?: boolean }
}): TurnParts['tools']['inspection']['since'] {
  return async (places) => {
    const inspect = await import('../../host/sandbox/inspect.ts')
    return inspect.inspectSince({ workspace, identity, home, protectedPaths, ofGuest }, places)
  }
}
