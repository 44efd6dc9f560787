import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { groupPlace } from '../../../src/host/sandbox/limits/group-place.ts'
import { findLimits } from '../../../src/host/sandbox/limits/find-limits.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { attackAs, USERS } from './as-user.ts'

const { isConfined } = await systemSandbox().status()
const canRun = isConfined && existsSync('/usr/bin/perl')
const { by } = await findLimits()

const Ran = z.object({
  output: z.string(),
  code: z.int().nullable(),
  limitsMet: z.record(z.string(), z.int()).optional(),
})
const Report = z.object({
  status: z.object({ limits: z.object({ by: z.string(), bindsProcesses: z.boolean() }) }),
  limited: Ran,
  unlimited: Ran,
  grows: Ran,
  works: Ran,
})

const MEMORY = 256 * 1024 * 1024

describe.skipIf(!canRun).each(USERS)('as %s', (user) => {
  test('a command cannot exceed its limits of processes and memory', async () => {
    const report = Report.parse(
      JSON.parse(await attackAs(user, new URL('limits-child.ts', import.meta.url))),
    )
    const { limits } = report.status
    expect(report.works).toMatchObject({ code: 0, output: 'worked\n' })
    expect(report.grows.output).not.toContain('grown')
    expect(report.grows.code).not.toBe(0)
    // The control: it is the limit that stops the forks.
    expect(report.unlimited).toMatchObject({ code: 0, output: '500\n' })
    if (limits.bindsProcesses) {
      const started = Number(report.limited.output)
      expect(started).toBeGreaterThan(16)
      expect(started).toBeLessThan(64)
    }
    if (limits.by !== 'rlimits') {
      expect(report.limited.limitsMet).toEqual({ processes: 64 })
      expect(report.grows.limitsMet).toEqual({ memory: MEMORY })
    }
  })
})

test.skipIf(!canRun || by !== 'cgroup v1')(
  'the group of a command is removed when it ends, and that of a killed process by the next one',
  async () => {
    const script = await bundleScript(
      new URL('limits-child.ts', import.meta.url),
      await freshFolder(),
    )
    const child = spawn(process.execPath, [script, await freshFolder(), 'hold'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    await new Promise<void>((resolve, reject) => {
      child.stdout.once('data', resolve)
      child.once('close', () => reject(new Error('it did not start')))
    })
    const mark = `-${(child.pid ?? 0).toString(36)}-`
    expect(await groupsOf(mark)).toHaveLength(2)
    child.kill('SIGKILL')
    // How long the kernel takes to end them is unknown: a group that remains fails by the time limit of the test.
    while ((await groupsOf(mark)).length > 0) await findLimits()
  },
)

/** The groups of the process with that mark, in both hierarchies. */
async function groupsOf(mark: string): Promise<readonly string[]> {
  const places = await Promise.all([groupPlace('/', 'pids'), groupPlace('/', 'memory')])
  const listed = await Promise.all(
    places.map(async (place) => {
      const names = await readdir(place?.own ?? '/nowhere')
      return names
        .filter((name) => name.startsWith('hawser-') && name.includes(mark))
        .map((name) => join(place?.own ?? '', name))
    }),
  )
  return listed.flat()
}
