import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { openPty } from '../../support/cli/pty.ts'
import { openRehearsal } from '../../support/providers/rehearsal-server.ts'
import { flat } from '../../support/presenters/open-chat.ts'

/** A model whose window is full with the log file, or with `LONG` and nothing else. */
async function place() {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(workspace)
  await writeFile(join(workspace, 'tides.txt'), 'high water at noon\n'.repeat(2_000))
  const vendor = await openRehearsal()
  const env = {
    ANTHROPIC_API_KEY: 'a-key-for-the-rehearsal',
    ANTHROPIC_BASE_URL: vendor.baseUrl('messages', 'overflow:6000'),
  }
  return { root, workspace, env }
}

const MODEL = 'claude-haiku-4-5'

/** A message that leaves nothing to compact: the Turn cannot continue without it. */
const LONG = `What does this say?\n${'high water at noon\n'.repeat(1_200)}`

const Result = z.looseObject({
  session_id: z.string(),
  error: z.looseObject({
    kind: z.string(),
    message: z.string(),
    details: z.looseObject({
      model: z.string(),
      window_tokens: z.number(),
      request_bytes: z.number(),
      parts: z.array(z.object({ part: z.string(), bytes: z.number() })),
      largest: z.array(z.looseObject({ what: z.string(), turn: z.number(), bytes: z.number() })),
    }),
    next_actions: z.array(z.looseObject({ action: z.string(), command: z.string().optional() })),
  }),
})

test('a full window is reported with its parts, its largest items and the next steps', async () => {
  const { root, env } = await place()
  const argv = ['run', '--model', MODEL, LONG]
  const run = await runCli({ root, env }, ...argv, '--json')
  expect(run.code).toBe(1)
  const { session_id, error } = Result.parse(
    JSON.parse(run.stdout.trimEnd().split('\n').at(-1) ?? ''),
  )
  expect(error.kind).toBe('context_overflow')
  expect(error.details).toMatchObject({ model: MODEL, window_tokens: 200_000 })
  expect(error.details.parts[0]?.part).toBe('your messages')
  const sum = error.details.parts.reduce((all, { bytes }) => all + bytes, 0)
  expect(sum).toBeGreaterThan(error.details.request_bytes * 0.95)
  expect(sum).toBeLessThanOrEqual(error.details.request_bytes)
  expect(error.details.largest[0]).toMatchObject({ what: 'your message', turn: 1 })
  expect(error.next_actions.slice(0, 2).map(({ command }) => command)).toEqual([
    `hawser compact ${session_id} --dry-run`,
    `hawser compact ${session_id}`,
  ])
  const larger = error.next_actions.find(({ command = '' }) => command.includes('--model'))
  expect(larger?.command).toMatch(new RegExp(`^hawser run --session ${session_id} --model claude-`))
  const words = await runCli({ root, env }, ...argv)
  expect([words.code, words.stdout]).toEqual([1, ''])
  expect(words.stderr).toMatch(/too long for claude-haiku-4-5[^]*your messages \d+ KiB/)
  expect(words.stderr).toContain('Largest: your message (Turn 1,')
  expect(words.stderr).toMatch(
    /\nTry: hawser compact ses_\w+ --dry-run\nTry: hawser compact ses_\w+\n/,
  )
  expect(words.stderr).toMatch(/\nTry: hawser run --session ses_\w+ --model [\w-]+ "Continue."\n/)
  expect(words.stderr).toContain('\nNext: Start a new Session')
})

test('the suggestion works: another model continues where the window was full', async () => {
  const { root, env } = await place()
  await runCli({ root, env }, 'run', '--model', MODEL, LONG)
  const largeWindow = {
    ...env,
    ANTHROPIC_BASE_URL: env.ANTHROPIC_BASE_URL.replace('6000', '900000'),
  }
  const argv = ['run', '--continue', '--model', 'claude-opus-4-8', 'Go on']
  const again = await runCli({ root, env: largeWindow }, ...argv)
  expect([again.code, again.stderr]).toEqual([0, expect.not.stringContaining('too long')])
})

test('the first suggestion works: after a compaction the same model continues', async () => {
  const { root, env } = await place()
  await runCli({ root, env }, 'run', '--model', MODEL, LONG)
  const done = await runCli({ root, env }, 'compact')
  expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/^Compacted: /)])
  const next = await runCli({ root, env }, 'run', '--continue', 'What can you do?')
  expect([next.code, next.stderr]).toEqual([0, expect.not.stringContaining('too long')])
})

test('a chat shows that the window was full, how the Session was compacted, and how full it is now', async () => {
  const { root, workspace, env } = await place()
  const program = await bundleScript(new URL('../../../bin/hawser.ts', import.meta.url), root)
  const pty = openPty(process.execPath, [program, 'chat', '--model', MODEL], {
    columns: 100,
    rows: 40,
    cwd: workspace,
    env: { ...env, HAWSER_HOME: join(root, 'home') },
  })
  await pty.until(/^ask · .*\/help$/m)
  pty.write('Read tides.txt\r')
  await pty.until('Compacted because a request exceeded the window: pointers replace')
  await pty.until(/^ask · .*\d % of the window · .*\/help$/m)
  pty.write('/context\r')
  await pty.until('To preview a compaction: /compact dry-run')
  expect(flat(pty)).toMatch(
    /claude-haiku-4-5 has a context window of 200,000 tokens[^]*Last call: /,
  )
  pty.write('\u0004')
  expect((await pty.ended).code).toBe(0)
})
