import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { Output as UsageOutput } from '../../../src/presenters/cli/commands/usage.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { openRehearsal } from '../../support/providers/rehearsal-server.ts'

const MODEL = 'claude-haiku-4-5'

/** A model whose window is as large as the test says. */
async function place(window_tokens: number, settings: object = {}) {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  const home = join(root, 'home')
  await mkdir(workspace)
  await mkdir(home, { mode: 0o700 })
  await writeFile(join(workspace, 'tides.txt'), 'high water at noon\n'.repeat(800))
  const config = { models: { [MODEL]: { window_tokens } }, model: MODEL, ...settings }
  await writeFile(join(home, 'config.json'), JSON.stringify(config), { mode: 0o600 })
  const vendor = await openRehearsal()
  const env = {
    ANTHROPIC_API_KEY: 'a-key-for-the-rehearsal',
    ANTHROPIC_BASE_URL: vendor.baseUrl('messages'),
  }
  return { root, env }
}

const Line = z.looseObject({ type: z.string(), data: z.looseObject({}).optional() })

function lines(stdout: string) {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => Line.parse(JSON.parse(line)))
}

test('[PC-052] pressure is shown by run, with and without --json, and by usage', async () => {
  const pressure = { advisory_percent: 1, warning_percent: 2, critical_percent: 50 }
  const world = await place(100_000, { pressure })
  const shown = await runCli(world, 'run', 'What can you do?')
  expect(shown.code).toBe(0)
  expect(shown.stderr).toMatch(
    /hawser: .*\d\.\d %.* To preview a compaction: hawser compact ses_\w+ --dry-run --json/,
  )
  const json = await runCli(world, 'run', 'What can you do?', '--json')
  const all = lines(json.stdout)
  const live = all.find(({ type }) => type === 'context_pressure')
  expect(live?.data).toMatchObject({
    tier: 'warning',
    next_actions: [{ command: expect.stringMatching(/^hawser compact ses_\w+ --dry-run --json$/) }],
  })
  expect(all.at(-1)).toMatchObject({
    type: 'turn_result',
    pressure: { tier: 'warning', ratio: expect.any(Number) },
  })
  const again = await runCli(world, 'run', '--continue', 'And now?')
  expect(again.stderr).not.toContain('To preview a compaction')
  const usage = UsageOutput.parse(JSON.parse((await runCli(world, 'usage', '--json')).stdout))
  expect(usage.total.peak_ratio).toBeGreaterThan(0.02)
  expect((await runCli(world, 'usage')).stdout).toMatch(/Peak window[^]* \d %/)
})

test('[PC-059] [PC-071] an automatic compaction is visible, and its limits come from the settings', async () => {
  const pressure = { advisory_percent: 1, warning_percent: 1, critical_percent: 1 }
  const world = await place(100_000, { pressure })
  await runCli(world, 'run', 'Read tides.txt')
  for (const text of ['And now?', 'What can you do?'])
    await runCli(world, 'run', '--continue', text.repeat(400))
  const next = await runCli(world, 'run', '--continue', 'Well?')
  expect([next.code, next.stderr]).toEqual([
    0,
    expect.stringContaining(
      'hawser: Compacted before a request, because the window was nearly full: ',
    ),
  ])
  const shown = await runCli(world, 'log', 'show', 'latest')
  expect(shown.stdout).toContain('before a request, because the window was nearly full')
})

test('[PC-064] only after `config set compaction.policy auto` is a Session compacted from the warning tier on', async () => {
  const pressure = { advisory_percent: 1, warning_percent: 1, critical_percent: 100 }
  const world = await place(100_000, { pressure })
  await runCli(world, 'run', 'Read tides.txt')
  const manual = await runCli(world, 'run', '--continue', 'And now?')
  expect([manual.code, manual.stderr]).toEqual([0, expect.not.stringContaining('Compacted')])
  await runCli(world, 'config', 'set', 'compaction.policy', 'auto')
  const auto = await runCli(world, 'run', '--continue', 'Well?')
  expect([auto.code, auto.stderr]).toEqual([
    0,
    expect.stringMatching(/^hawser: Compacted by policy: pointers replace long tool outputs/),
  ])
})

test('the limit of calls of a Turn is a setting', async () => {
  const world = await place(100_000)
  await runCli(world, 'config', 'set', 'limits.provider_calls', '1')
  const stopped = await runCli(world, 'run', 'Read tides.txt')
  expect([stopped.code, stopped.stderr]).toEqual([
    1,
    expect.stringContaining('made 1 call to the model'),
  ])
  await runCli(world, 'config', 'set', 'limits.provider_calls', '2')
  expect(await runCli(world, 'run', 'Read tides.txt')).toMatchObject({ code: 0 })
})
