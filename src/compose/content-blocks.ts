import { systemClock } from '../host/clock.ts'
import { closing } from '../host/files/files.ts'
import { systemIds } from '../host/ids.ts'
import { openWorkspace } from '../host/workspace.ts'
import type { Result } from '../model/errors.ts'
import { contentBlocks, type ContentBlocks } from '../session/admission/attachments.ts'
import { sessionEngine } from './engine.ts'

export interface ResolveOptions {
  /** The folder whose store keeps the bytes. Its `.hawser` folder is created if it is missing. */
  readonly workspace: string
  readonly signal?: AbortSignal
}

/**
 * Resolves a message and files to the parts that a model is shown, an error for each refused file, and the prompt mode.
 * File types come from the bytes, never from what a client claims. Fails when there is nothing to show, and when the
 * bytes cannot be stored. Reads no settings, so the bytes are in the default engine.
 */
export async function resolveAttachmentsToContentBlocks(
  message: string,
  paths: readonly unknown[],
  { workspace, signal }: ResolveOptions,
): Promise<Result<ContentBlocks>> {
  const clock = systemClock
  const ids = systemIds(clock)
  const folders = await openWorkspace(workspace, ids)
  if (!folders.ok) return folders
  return closing(folders.value, async ({ blobs: folder }) => {
    const store = sessionEngine(undefined).blobs({ folder, ids, clock })
    return contentBlocks(message, paths, { store, clock, ids, signal })
  })
}
