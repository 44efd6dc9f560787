import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { CANARY_PARTS } from './host/canary.ts'
import { memoryFolder } from './host/memory-folder.ts'
import { failuresOf, proveInParallel, summaryOf } from './parallel-proof.ts'

/**
 * Vitest calls this once per run, before any worker starts: tests create all their files below one new root. The run fails
 * if at its end a file there contains a key, a Log contains the bytes of a file, or a Session cannot be proved.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const root = await mkdtemp(join(await memoryFolder(), 'hawser-test-'))
  process.env['HAWSER_TEST_ROOT'] = root
  process.env['HAWSER_TEST_BUNDLES'] = await mkdtemp(join(root, 'bundles-'))
  // In watch mode, the source may have changed.
  project.onTestsRerun(async () => {
    process.env['HAWSER_TEST_BUNDLES'] = await mkdtemp(join(root, 'bundles-'))
  })
  return async () => {
    const [keys, bytes, proof] = await Promise.all([
      filesWith(CANARY_PARTS, root, '--exclude=config.json'),
      filesWith(ENCODED, root, '--include=*.ndjson'),
      proveInParallel(root),
    ])
    await rm(root, { recursive: true, force: true })
    console.log(summaryOf(proof))
    const wrong = [
      ...keys.map((path) => `a test left a key behind: ${path}`),
      ...bytes.map((path) => `a test left the bytes of a file in a Log: ${path}`),
      ...failuresOf(proof, await isWhole(project)),
    ]
    if (wrong.length === 0) return
    // Vitest reports an error from here, but exits with 0.
    process.exitCode = 1
    throw new Error(wrong.join('\n'))
  }
}

/** Whether all tests of a configuration ran, and not a selection. */
async function isWhole({ vitest }: TestProject): Promise<boolean> {
  const all = await vitest.globTestSpecifications()
  const ran = vitest.state.getTestModules()
  // The tests of the app run few Turns.
  const isApp = all.some(({ moduleId }) => moduleId.endsWith('.web.ts'))
  return !isApp && vitest.config.testNamePattern === undefined && ran.length >= all.length
}

/** Prefixes of PNG, JPEG, GIF, WebP and PDF files in base64; no Log may contain them. */
const ENCODED = ['iVBORw0KGgo', '/9j/4', '/9j/2', 'R0lGODlh', 'R0lGODdh', 'UklGR', 'JVBERi0']

/** Files below a folder, restricted by `which`, that contain one of the texts. */
async function filesWith(
  texts: readonly string[],
  folder: string,
  which: string,
): Promise<string[]> {
  const options = ['-r', '-F', '-l', '-s', '-D', 'skip', which]
  const patterns = texts.flatMap((text) => ['-e', text])
  try {
    const found = await promisify(execFile)('grep', [...options, ...patterns, folder])
    return found.stdout.split('\n').filter((path) => path !== '')
  } catch (error) {
    // grep exits with 1 if nothing matches, and with 2 if it cannot read a file of another user.
    const output = error instanceof Error && 'stdout' in error ? String(error.stdout) : ''
    return output.split('\n').filter((path) => path !== '')
  }
}
