import { access, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { Harness } from '../../../src/session/harness.ts'
import { value } from '../../support/log/story.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { say } from '../../support/resources/sample-files.ts'
import { withClock } from '../../support/session/harness-parts.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'

const BEGIN = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const

/** Two Turns in a parent, one of a fork, and a command of the person; each changes files by commands. */
async function forkWithCommands() {
  const place = await harnessPlace()
  const path = (name: string) => join(place.workspace, name)
  const text = (name: string) => readFile(path(name), 'utf8').catch(() => undefined)
  await mkdir(path('src'))
  await writeFile(path('src/a.txt'), 'one\n')
  await writeFile(path('b.txt'), 'one\n')
  const parent = value(await place.harness.create(BEGIN))
  expect(await say(parent, 'Write "kept" to kept.txt')).toBe('completed')
  expect(await say(parent, 'Run `rm -r src`')).toBe('completed')
  const fork = value(await place.harness.open(value(await parent.fork()).session_id))
  expect(await say(fork, "Run `sed -i 's/one/two/' b.txt`")).toBe('completed')
  value(await fork.runCommand('printf made > made.txt'))
  return { place, parent, fork, path, text }
}

test('a rewind with files restores what commands changed, over a fork, and asks for what a person changed', async () => {
  const { place, parent, fork, path, text } = await forkWithCommands()
  await writeFile(path('b.txt'), 'mine\n')
  expect(await fork.rewind({ turn: 2, files: true })).toMatchObject({
    error: { kind: 'no_match', details: { files: ['b.txt'] } },
  })
  expect([await text('b.txt'), await text('made.txt')]).toEqual(['mine\n', 'made'])
  await expect(access(path('src'))).rejects.toThrow('ENOENT')

  const options = { turn: 2, files: true, conflicts: 'leave' } as const
  const left = value(await fork.rewind(options))
  expect(left.files.map((file) => [file.path, file.outcome])).toEqual([
    ['src/a.txt', 'restored'],
    ['b.txt', 'changed_since'],
    ['made.txt', 'restored'],
  ])
  expect(left.commands).toEqual([])
  expect([await text('src/a.txt'), await text('b.txt')]).toEqual(['one\n', 'mine\n'])

  const overwritten = value(await fork.rewind({ ...options, conflicts: 'overwrite' }))
  expect([await text('b.txt'), await text('made.txt')]).toEqual(['one\n', undefined])
  const branch = value(await place.harness.open(overwritten.session_id))
  expect(branch.state.turns).toBe(1)
  // Of what is left, only the shared Turn changed anything.
  expect(value(await branch.diff()).files.map((file) => file.path)).toEqual(['kept.txt'])
  const first = value(await branch.rewind({ turn: 1, files: true }))
  expect(first.files).toMatchObject([{ path: 'kept.txt', outcome: 'restored' }])
  value(await branch.redo())
  expect(await text('b.txt')).toBe('mine\n')
  for (const one of [branch, fork, parent]) {
    await one.close()
    await verified(place, one)
  }
})

test('a fork of a deleted Session still restores what commands of that Session changed, also after gc', async () => {
  const { place, parent, fork, text } = await forkWithCommands()
  await parent.close()
  await fork.close()
  value(await place.harness.delete(parent.id))
  const clock = { ...systemClock, now: () => Date.now() + 7_200_000 }
  value(await new Harness(withClock(place.parts, clock)).gc({ dryRun: false }))
  const again = value(await place.harness.open(fork.id))
  const { files, commands } = value(await again.rewind({ turn: 2, files: true }))
  expect(commands).toEqual([])
  expect(files.every(({ outcome }) => outcome === 'restored')).toBe(true)
  expect([await text('src/a.txt'), await text('b.txt'), await text('made.txt')]).toEqual([
    'one\n',
    'one\n',
    undefined,
  ])
})
