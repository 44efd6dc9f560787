import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { returned, runServerFloods } from './server-flood-runs.ts'

test.runIf(existsSync('/proc/self/clear_refs'))(
  'slow clients, dropped streams and pipelined requests cost bounded memory, and others are served',
  async () => {
    const sizes = { slow: 12, streams: 200, atOnce: 100, pipelinedBytes: 1_000_000 }
    const figures = await runServerFloods(await freshFolder(), sizes)
    removeGuestProgram()
    expect(figures.map(({ test: name, violations }) => [name, violations])).toEqual(
      figures.map(({ test: name }) => [name, []]),
    )
    expect(figures).toHaveLength(7)
  },
)

test('a descriptor that is left is noticed', async () => {
  const server = { descriptors: () => 21, isAlive: () => true }
  expect(await returned(server, 20, 50)).toEqual(['1 descriptors are left'])
  expect(await returned(server, 21)).toEqual([])
})
