import { access, constants, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Vitest runs this once a run, before any worker starts: every file a test makes lies under one fresh root. */
export async function setup(): Promise<() => Promise<void>> {
  const root = await mkdtemp(join(await memoryFolder(), 'hawser-test-'))
  process.env['HAWSER_TEST_ROOT'] = root
  return () => rm(root, { recursive: true, force: true })
}

/** Tests sync often; on tmpfs that costs nothing. */
async function memoryFolder(): Promise<string> {
  try {
    await access('/dev/shm', constants.W_OK | constants.X_OK)
    return '/dev/shm'
  } catch {
    return tmpdir()
  }
}
