import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CANARY_KEY } from './canary.ts'
import { memoryFolder } from './memory-folder.ts'

/** Vitest runs this once a run, before any worker starts: every file a test makes lies under one fresh root. */
export async function setup(): Promise<() => Promise<void>> {
  const root = await mkdtemp(join(await memoryFolder(), 'hawser-test-'))
  process.env['HAWSER_TEST_ROOT'] = root
  return async () => {
    const leaks = await filesWith(CANARY_KEY, root)
    await rm(root, { recursive: true, force: true })
    if (leaks.length === 0) return
    // What is thrown here is told and forgotten.
    process.exitCode = 1
    throw new Error(`a key was left in ${leaks.join(', ')}`)
  }
}

/** Files below a folder that hold a text, but for the settings, which keys are stored in. */
async function filesWith(text: string, folder: string): Promise<string[]> {
  const options = ['-r', '-F', '-l', '-s', '-D', 'skip', '--exclude=config.json']
  try {
    const found = await promisify(execFile)('grep', [...options, '-e', text, folder])
    return found.stdout.split('\n').filter((path) => path !== '')
  } catch (error) {
    // It ends with 1 when it found nothing; another end may come of files that only their owner reads.
    const told = error instanceof Error && 'stdout' in error ? String(error.stdout) : ''
    return told.split('\n').filter((path) => path !== '')
  }
}
