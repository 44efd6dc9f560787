import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'

/** A new empty folder for one test, with mode 0700. The run removes it together with its root at the end. */
export async function freshFolder(): Promise<string> {
  const root = process.env['HAWSER_TEST_ROOT']
  if (root === undefined) throw new Error('freshFolder works in tests run by vitest only')
  return mkdtemp(join(root, 'folder-'))
}
