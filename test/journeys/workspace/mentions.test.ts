import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCli } from '../../support/cli/cli.ts'
import {
  messageOf,
  nextRequest,
  sourcePlace,
  verifiedRequests,
} from '../../support/cli/mentioned.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'

test('a file without an attachment type and a folder are mentions: their content is in the message', async () => {
  const { root } = await sourcePlace()
  const text = 'Compare @src/index.ts with @Makefile, then list @src/ and @src/index.ts.'
  const run = await runCli({ root }, 'run', text, '--json')
  expect(run.code).toBe(0)
  const { prompt_mode, mentions, mention_errors } = messageOf(run)
  expect(prompt_mode).toBe('string')
  expect(mention_errors).toEqual([])
  expect(mentions.map(({ path, kind, bytes, lines }) => [path, kind, bytes, lines])).toEqual([
    ['src/index.ts', 'file', 22, 1],
    ['Makefile', 'file', 17, 2],
    ['src', 'folder', 9, 1],
  ])
  for (const dialect of ['messages', 'responses', 'chat']) {
    const body = await nextRequest(root, dialect)
    expect(body.includes('read from disk for this message, 1 line, 22 bytes:')).toBe(true)
    expect(body.includes('export const rope = 1')).toBe(true)
  }
  await verifiedRequests(root)
})

test('of a file of 20 MB, the first lines are included, and the message says so', async () => {
  const { root, workspace } = await sourcePlace()
  const file = await open(join(workspace, 'big.log'), 'w')
  await file.write('a line of a log, é\n'.repeat(60_000))
  await file.truncate(20_000_000)
  await file.close()
  await writeFile(join(workspace, 'long.ts'), 'x\n'.repeat(5_000))
  await writeFile(join(workspace, 'minified.js'), 'y'.repeat(200_000))
  const run = await runCli({ root }, 'run', 'See @big.log @long.ts @minified.js', '--json')
  const { mentions } = messageOf(run)
  expect(
    mentions.map(({ path, bytes, to_line, lines, size_bytes, truncated }) => {
      return [path, bytes, to_line, lines, size_bytes, truncated]
    }),
  ).toEqual([
    ['big.log', 40_000, 2_000, undefined, 20_000_000, true],
    ['long.ts', 4_000, 2_000, 5_000, 10_000, true],
    ['minified.js', 51_200, 1, 1, 200_000, true],
  ])
  const said = await runCli({ root }, 'run', 'See @long.ts')
  expect(said.stderr).toContain('@long.ts · only the first 2,000 lines of 5,000')
  await verifiedRequests(root)
})

test('a message has a limited number of mentions and bytes, and says which are missing', async () => {
  const { root, workspace } = await sourcePlace()
  const names = Array.from({ length: 40 }, (_, at) => `f${at}.ts`)
  for (const name of names) await writeFile(join(workspace, name), 'z'.repeat(40_000))
  const few = messageOf(
    await runCli(
      { root },
      'run',
      names
        .slice(0, 8)
        .map((name) => `@${name}`)
        .join(' '),
      '--json',
    ),
  )
  expect([
    few.mentions.length,
    few.mention_errors.map(({ path, code }) => `${path} ${code}`),
  ]).toEqual([6, ['f6.ts budget_exceeded', 'f7.ts budget_exceeded']])
  const many = messageOf(
    await runCli({ root }, 'run', names.map((name) => `@${name}`).join(' '), '--json'),
  )
  expect(many.mentions.length + many.mention_errors.length).toBe(33)
  expect(many.mention_errors.at(-1)?.reason).toContain('the limit is 32')
})

test('an attachment type stays a Resource, and both kinds can be in one message', async () => {
  const { root, workspace } = await sourcePlace()
  await writeFile(join(workspace, 'tiny.png'), TINY_IMAGES.png)
  await writeFile(join(workspace, 'notes.md'), '# Notes\n')
  const text = 'See @tiny.png, @notes.md and @src/index.ts.'
  const run = await runCli({ root }, 'run', text, '--json')
  const { prompt_mode, resources, mentions } = messageOf(run)
  expect(prompt_mode).toBe('blocks')
  expect(resources.map(({ name }) => name)).toEqual(['tiny.png', 'notes.md'])
  expect(mentions.map(({ path }) => path)).toEqual(['src/index.ts'])
  await runCli({ root }, 'run', '--continue', 'Go on')
  await verifiedRequests(root)
})

test('keys are redacted in a mention, and log show, export and grep have it', async () => {
  const { root, workspace } = await sourcePlace()
  const key = 'sk-ant-api03-0123456789abcdefghijklmnop'
  await writeFile(
    join(workspace, 'env.ts'),
    `export const key = '${key}'\nexport const hawser = 7\n`,
  )
  const env = { ANTHROPIC_API_KEY: key }
  const provider = ['--provider', 'rehearsal']
  const run = await runCli({ root, env }, 'run', ...provider, 'See @env.ts', '--json')
  expect(run.code).toBe(0)
  expect(run.stdout).not.toContain(key)
  expect((await nextRequest(root)).includes(key)).toBe(false)
  for (const words of [
    ['log', 'show', 'latest'],
    ['log', 'export', 'latest'],
    ['log', 'export', 'latest', '--format', 'html'],
  ]) {
    const { stdout } = await runCli({ root }, ...words)
    expect(stdout).toContain('@env.ts · 2 lines')
  }
  const found = await runCli({ root }, 'grep', 'const hawser')
  expect(found.stdout).toContain('export const hawser = 7')
})
