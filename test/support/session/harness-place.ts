import { onTestFinished } from 'vitest'
import type { Harness } from '../../../src/session/harness.ts'
import { AskedHarness, type AskedParts } from './asked-harness.ts'
import { freshFolder } from '../host/folder.ts'
import { openParts, type Changes } from './harness-parts.ts'

/** A workspace on the real disk with everything that a Session needs, closed at the end of the test. */
export interface HarnessPlace {
  readonly workspace: string
  readonly parts: AskedParts
  readonly harness: Harness
}

/** Opened again on the same `root`, it simulates another process: only the files are shared. */
export async function harnessPlace(
  changes: Changes = {},
  root?: string,
): Promise<HarnessPlace & { readonly root: string }> {
  const at = root ?? (await freshFolder())
  const { workspace, parts, close } = await openParts(at, changes)
  onTestFinished(close)
  return { root: at, workspace, parts, harness: new AskedHarness(parts) }
}
