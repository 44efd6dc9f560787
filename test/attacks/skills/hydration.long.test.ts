import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { LIMITS } from '../../../src/model/limits.ts'
import { commandSource } from '../../support/session/hand-skills.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { say } from '../../support/resources/sample-files.ts'
import { hydrations, skillPlace } from '../../support/skills/skill-session.ts'
import { value } from '../../support/log/story.ts'
import { treeHash } from '../../support/host/tree-hash.ts'

const { isConfined } = await systemSandbox().status()

test.skipIf(!isConfined).each([
  ['prints 1 GB', 'head -c 1000000000 /dev/zero | tr "\\0" x'],
  ['prints without end', 'yes'],
  ['prints binary data without end', 'cat /dev/urandom'],
])('a command that %s is stopped, and what it printed is bounded', async (_, script) => {
  const source = commandSource('much', ['sh', '-c', script], { timeout_ms: 60_000 })
  const at = await skillPlace('in process', { facts: { sources: [source] } })
  await writeFile(join(at.workspace, 'a.txt'), 'a\n')
  const session = value(await at.harness.create({ ...at.begin, permissionMode: 'auto' }))
  const own = [join(at.workspace, '.hawser')]
  const before = await treeHash(at.workspace, own)
  const skills = [{ name: 'facts', with: [{ id: 'much' }] }]
  expect(await say(session, 'Thanks.', { skills })).toBe('completed')
  const [much] = hydrations(session)
  expect(much).toMatchObject({ status: 'ok', truncated: true })
  expect(much?.output_bytes).toBeLessThanOrEqual(LIMITS.hydrated_output_bytes)
  expect(much?.whole_bytes).toBeLessThanOrEqual(LIMITS.hydrated_spool_bytes)
  expect(much?.limitations?.join(' ')).toContain('Only the first 10,485,760 bytes')
  expect(await treeHash(at.workspace, own)).toBe(before)
  await verified(at, session)
})
