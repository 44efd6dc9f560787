import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CANARY_PARTS } from './canary.ts'
import { memoryFolder } from './memory-folder.ts'

/** Vitest runs this once a run, before any worker starts: every file a test makes lies under one fresh root. */
export async function setup(): Promise<() => Promise<void>> {
  const root = await mkdtemp(join(await memoryFolder(), 'hawser-test-'))
  process.env['HAWSER_TEST_ROOT'] = root
  return async () => {
    const leaks = [
      ...(await filesWith(CANARY_PARTS, root, '--exclude=config.json')).map(
        (path) => `a key: ${path}`,
      ),
      ...(await filesWith(ENCODED, root, '--include=*.ndjson')).map((path) => `bytes: ${path}`),
    ]
    await rm(root, { recursive: true, force: true })
    if (leaks.length === 0) return
    // What is thrown here is told and forgotten.
    process.exitCode = 1
    throw new Error(`these were left behind: ${leaks.join(', ')}`)
  }
}

/** How base64 of a PNG, JPEG, GIF, WebP or PDF begins: no Log of any test holds one. */
const ENCODED = ['iVBORw0KGgo', '/9j/4', '/9j/2', 'R0lGODlh', 'R0lGODdh', 'UklGR', 'JVBERi0']

/** Files below a folder, of those that `which` leaves, that hold one of the texts. */
async function filesWith(
  texts: readonly string[],
  folder: string,
  which: string,
): Promise<string[]> {
  const options = ['-r', '-F', '-l', '-s', '-D', 'skip', which]
  const wanted = texts.flatMap((text) => ['-e', text])
  try {
    const found = await promisify(execFile)('grep', [...options, ...wanted, folder])
    return found.stdout.split('\n').filter((path) => path !== '')
  } catch (error) {
    // It ends with 1 when it found nothing; another end may come of files that only their owner reads.
    const told = error instanceof Error && 'stdout' in error ? String(error.stdout) : ''
    return told.split('\n').filter((path) => path !== '')
  }
}
