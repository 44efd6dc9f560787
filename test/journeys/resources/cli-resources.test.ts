import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Output } from '../../../src/presenters/cli/commands/resources.ts'
import { failureOf, UNSAFE_CHARACTER } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'

const EVIL = '<b>&"tiny.png'

/** A Session of two Turns with an image, a text and a link, and then a view of the image. */
async function story(): Promise<{ readonly root: string; readonly workspace: string }> {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(workspace)
  await writeFile(join(workspace, EVIL), TINY_IMAGES.png)
  await writeFile(join(workspace, 'notes.txt'), 'rope\nsail\n')
  const attach = [EVIL, 'notes.txt'].flatMap((one) => ['--attach', one])
  await runCli({ root }, 'run', ...attach, '--attach', 'gone.png', 'What do you see?')
  const link = ['--attach', 'https://example.invalid/a']
  await runCli({ root }, 'run', '--continue', ...link, 'Look at @img1')
  return { root, workspace }
}

async function listed(root: string) {
  const { stdout } = await runCli({ root }, 'resources', 'latest', '--json')
  return Output.parse(JSON.parse(stdout)).resources ?? []
}

async function blobsOf(workspace: string, extension: string): Promise<string[]> {
  const folder = join(workspace, '.hawser', 'blobs')
  const names = (await readdir(folder)).filter((name) => name.endsWith(extension))
  return names.map((name) => join(folder, name))
}

test('all attachments are listed with their state', async () => {
  const { root } = await story()
  const { code, stdout } = await runCli({ root }, 'resources', 'latest')
  expect(code).toBe(0)
  expect(stdout.split('\n')).toEqual([
    'Handle  Kind       Size   Extent  Turn  By      State  Bytes    Shown  Views  Name',
    `@img1   image  99 bytes      3×2     1  person  live   present      2      1  ${EVIL}`,
    '@txt2   text   10 bytes  2 lines     1  person  live   present      1      0  notes.txt',
    '@link3  link          -        -     2  person  live   -            0      0  https://example.invalid/a',
    '',
  ])
  expect(
    (await listed(root)).map(({ descriptor, turn, by, state, payload, shown, views }) => {
      return [descriptor.handle, turn, by, state, payload, shown, views]
    }),
  ).toEqual([
    ['@img1', 1, 'person', 'live', 'present', 2, 1],
    ['@txt2', 1, 'person', 'live', 'present', 1, 0],
    ['@link3', 2, 'person', 'live', 'none', 0, 0],
  ])
})

test('a Session without Resources says so', async () => {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  await runCli({ root }, 'run', 'List all files')
  expect(await listed(root)).toEqual([])
  const { stdout } = await runCli({ root }, 'resources', 'latest')
  expect(stdout).toContain('This Session has no Resources')
})

test('a dropped Resource is never shown again', async () => {
  const { root } = await story()
  const dropped = await runCli({ root }, 'resources', 'latest', 'drop', '@img1', '--json')
  expect(Output.parse(JSON.parse(dropped.stdout))).toMatchObject({ ok: true, dropped: '@img1' })
  const again = await runCli({ root }, 'resources', 'latest', 'drop', 'img1')
  expect([again.code, again.stdout]).toEqual([0, `@img1 ${EVIL} is already dropped.\n`])
  expect((await listed(root)).map(({ state }) => state)).toEqual(['dropped', 'live', 'live'])
  const viewed = await runCli({ root }, 'run', '--continue', 'Look at @img1', '--json')
  expect(viewed.code).toBe(0)
  const shown = (await listed(root)).map(({ shown: times }) => times)
  expect(shown).toEqual([2, 1, 0])
})

test('a missing or invalid handle is an error', async () => {
  const { root } = await story()
  const results = []
  for (const argv of [
    ['latest', 'drop', '@img9'],
    ['latest', 'drop', 'no\u001b[2Jhandle'],
    ['latest', 'drop'],
    ['latest', 'burn', '@img1'],
    ['nonsense!'],
  ]) {
    const run = await runCli({ root }, 'resources', ...argv, '--json')
    const words = await runCli({ root }, 'resources', ...argv)
    expect(words.stderr).not.toMatch(UNSAFE_CHARACTER)
    results.push([run.code, failureOf(run).kind])
  }
  expect(results).toEqual([
    [1, 'not_found'],
    [1, 'not_found'],
    [2, 'invalid_args'],
    [2, 'invalid_args'],
    [2, 'invalid_args'],
  ])
})

test('payloads that are missing or damaged are listed, and the doctor names them', async () => {
  const { root, workspace } = await story()
  const healthy = await runCli({ root }, 'doctor')
  expect(healthy.stdout).toMatch(/^ok +resources +all stored bytes/m)
  await registerDamage(root, 'blobs', 'Payloads are missing and damaged.')
  for (const blob of await blobsOf(workspace, '.png')) await rm(blob)
  for (const blob of await blobsOf(workspace, '.txt')) {
    if ((await readFile(blob, 'utf8')) === 'rope\nsail\n') await writeFile(blob, 'rope\nSAIL\n')
  }
  expect((await listed(root)).map(({ payload }) => payload)).toEqual(['missing', 'damaged', 'none'])
  const diagnosed = await runCli({ root }, 'doctor')
  expect(diagnosed.code).toBe(1)
  expect(diagnosed.stdout).toMatch(
    /^problem +resources +2 payloads .*@img1 .* is missing, @txt2 notes\.txt .* is damaged\n +-> .* hawser resources ses_/m,
  )
  const bundle = await runCli({ root }, 'doctor', '--bundle')
  expect(bundle.stdout).toMatch(/^problem +resources +2 payloads missing or damaged$/m)
})

test('the Log and every export show attachments, refusals, views and drops by handle and name', async () => {
  const { root } = await story()
  await runCli({ root }, 'resources', 'latest', 'drop', '@img1')
  const log = (await runCli({ root }, 'log', 'show', 'latest')).stdout
  const markdown = (await runCli({ root }, 'log', 'export', 'latest')).stdout
  const html = (await runCli({ root }, 'log', 'export', 'latest', '--format', 'html')).stdout
  const json = (await runCli({ root }, 'log', 'export', 'latest', '--format', 'json')).stdout
  const escaped = EVIL.replace('&', '&amp;')
    .replace('<', '&lt;')
    .replace('>', '&gt;')
    .replace('"', '&quot;')
  for (const [text, name] of [
    [log, EVIL],
    [markdown, EVIL],
    [html, escaped],
  ] as const) {
    expect(text).toContain(`@img1 ${name} · 99 bytes · 3×2`)
    expect(text).toMatch(/gone\.png.* Attachment file not found: gone\.png/)
    expect(text).toContain('@link3 https://example.invalid/a · a link, not fetched')
    expect(text).toContain('@img1 is sent to the model for this Turn.')
    expect(text).toContain(`@img1 ${name} was dropped: its bytes are not sent again.`)
  }
  expect(log).toContain('with the bytes of @img1, @txt2')
  expect(html).not.toContain('<b>')
  const bytes = TINY_IMAGES.png.toString('base64').slice(0, 40)
  for (const text of [log, markdown, html, json]) expect(text).not.toContain(bytes)
})

test('an attachment is found by its name', async () => {
  const { root } = await story()
  const { code, stdout } = await runCli({ root }, 'grep', '-F', 'notes.txt')
  expect(code).toBe(0)
  expect(stdout).toContain('notes.txt')
})
