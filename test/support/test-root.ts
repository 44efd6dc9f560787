import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { CANARY_PARTS } from './canary.ts'
import { memoryFolder } from './memory-folder.ts'
import { complaintsOf, provenSessions, wordsOf } from './proven-sessions.ts'

/**
 * Vitest runs this once a run, before any worker starts: every file a test makes lies under one fresh root. At the end, no file
 * there holds a key, no Log there holds bytes of a file, and every Session there is proved from its Log to its requests.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const root = await mkdtemp(join(await memoryFolder(), 'hawser-test-'))
  process.env['HAWSER_TEST_ROOT'] = root
  return async () => {
    const [keys, bytes, proven] = await Promise.all([
      filesWith(CANARY_PARTS, root, '--exclude=config.json'),
      filesWith(ENCODED, root, '--include=*.ndjson'),
      provenSessions(root),
    ])
    await rm(root, { recursive: true, force: true })
    console.log(wordsOf(proven))
    const wrong = [
      ...keys.map((path) => `left behind, a key: ${path}`),
      ...bytes.map((path) => `left behind, bytes of a file: ${path}`),
      ...complaintsOf(proven, await isWhole(project)),
    ]
    if (wrong.length === 0) return
    // Vitest reports what is thrown here and exits with 0.
    process.exitCode = 1
    throw new Error(wrong.join('\n'))
  }
}

/** Whether all tests of a configuration ran, and not those that a person named. */
async function isWhole({ vitest }: TestProject): Promise<boolean> {
  const all = await vitest.globTestSpecifications()
  const ran = vitest.state.getTestModules()
  return vitest.config.testNamePattern === undefined && ran.length >= all.length
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
