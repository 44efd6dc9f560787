import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { sha256 } from '../../../src/encoding/hash.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { value } from '../../support/log/story.ts'
import { commandPlace } from '../../support/session/write-log.ts'

const REVIEW = `---
name: review
description: Reviews a change.
context_sources:
  - id: guide
    file: docs/guide.md
  - id: part
    parameters: { where: { type: path } }
    file: "{where}"
---
Compare the change with the guide.
`

/** A Skill of the person, one of the repository, and a file that the first may fetch. */
async function skilledPlace(): Promise<{ readonly root: string }> {
  const { root } = await commandPlace()
  const files = {
    'home/skills/review/SKILL.md': REVIEW,
    'workspace/.agents/skills/stranger/SKILL.md':
      '---\nname: stranger\ndescription: Hi.\n---\nObey.\n',
    'workspace/docs/guide.md': 'Write short sentences.\n',
    'workspace/docs/a b.md': 'Another page.\n',
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true, mode: 0o700 })
    await writeFile(join(root, path), text)
  }
  return { root }
}

async function sessionsIn(root: string): Promise<(readonly WholeEvent[])[]> {
  const { harness } = await harnessPlace({}, root)
  const listed = await harness.list()
  return Promise.all(listed.map(async ({ id }) => value(await harness.open(id)).events))
}

/** The message, and what was activated and hydrated. */
async function lastTurn(root: string): Promise<unknown[]> {
  const [events = []] = await sessionsIn(root)
  return events.flatMap((event): unknown[] => {
    if (event.type === 'user_message') return [event.data.text]
    if (event.type === 'skill_activation') return [[event.data.name, event.data.args]]
    if (event.type !== 'skill_context_hydration') return []
    const { context_source_id, status, output, invoked_by } = event.data
    return [[context_source_id, status, output, invoked_by]]
  })
}

test('[SH-038] [SH-007] a typed prompt activates a Skill and hydrates what it names, and stays as typed', async () => {
  const { root } = await skilledPlace()
  const prompt = '/review --with guide --with part:where="docs/a b.md"  is it good?'
  const { code, stderr } = await runCli({ root, terminal: true }, 'run', prompt)
  expect(code).toBe(0)
  expect(await lastTurn(root)).toEqual([
    prompt,
    ['review', 'is it good?'],
    ['guide', 'ok', 'Write short sentences.\n', 'person'],
    ['part', 'ok', 'Another page.\n', 'person'],
  ])
  expect(stderr).toContain('Skill review activated by you, with "is it good?"')
  expect(stderr).toContain('Context guide of Skill review: ok, 23 bytes (file docs/guide.md')
  expect(stderr).not.toContain('Write short sentences.')
})

test.each([
  ['What does $review say?', ['What does $review say?', ['review', '']]],
  ['/nothing to see', ['/nothing to see']],
  ['/etc/hosts is a file, and $HOME a variable', undefined],
])('%s names Skills that exist, and is text otherwise', async (prompt, expected) => {
  const { root } = await skilledPlace()
  expect((await runCli({ root }, 'run', prompt)).code).toBe(0)
  expect(await lastTurn(root)).toEqual(expected ?? [prompt])
})

test('a prompt from a pipe activates nothing', async () => {
  const { root } = await skilledPlace()
  expect((await runCli({ root, stdin: '/review $review' }, 'run')).code).toBe(0)
  expect(await lastTurn(root)).toEqual(['/review $review'])
})

test('a Skill of the repository is refused with the next step, or sent as text where it is only mentioned', async () => {
  const { root } = await skilledPlace()
  const refused = await runCli({ root }, 'run', '/stranger', 'hello')
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('hawser skills trust stranger')
  expect(await sessionsIn(root)).toEqual([])
  const mentioned = await runCli({ root }, 'run', 'Use $stranger')
  expect(mentioned.code).toBe(0)
  expect(mentioned.stderr).toContain('hawser skills trust stranger')
  expect(await lastTurn(root)).toEqual(['Use $stranger'])
})

test.each([
  ['/review --with', 'needs the id of a context source'],
  ['/review --with nothing', 'declares no context source nothing'],
  ['/review --with part', 'where'],
])('%s is refused before a Session exists', async (prompt, message) => {
  const { root } = await skilledPlace()
  const { code, stderr } = await runCli({ root }, 'run', prompt)
  expect(code).not.toBe(0)
  expect(stderr).toContain(message)
  expect(await sessionsIn(root)).toEqual([])
})

test('[SH-006] a Skill may hydrate what it declares; what its body only documents is text', async () => {
  const { root } = await skilledPlace()
  const documented = '\nAnother source, named log: `git log`, or the file docs/a b.md.\n'
  await writeFile(join(root, 'home/skills/review/SKILL.md'), REVIEW + documented)
  for (const id of ['log', 'docs/a b.md', 'Guide']) {
    const refused = await runCli({ root }, 'run', '--json', `/review --with "${id}"`)
    expect(refused.code).not.toBe(0)
    expect(failureOf(refused)).toMatchObject({ kind: 'invalid_args' })
  }
  expect(await sessionsIn(root)).toEqual([])
  // The model cannot either: the refusal lists what there is.
  const text = 'Use the skill review. Then hydrate log of review. Hydrate guide of review.'
  expect((await runCli({ root }, 'run', text)).code).toBe(0)
  const [events = []] = await sessionsIn(root)
  const results = events.flatMap((e) => (e.type === 'tool_result' ? [e.data] : []))
  expect(results.map(({ outcome }) => outcome)).toEqual(['ok', 'failed', 'ok'])
  expect(results[1]?.output).toContain('declares no context source log. It declares: guide, part.')
  const hydrated = events.flatMap((e) =>
    e.type === 'skill_context_hydration' ? [e.data.context_source_id] : [],
  )
  expect(hydrated).toEqual(['guide'])
})

test('a preview contains the activation that the message would record, byte for byte, and fetches nothing', async () => {
  const { root } = await skilledPlace()
  expect((await runCli({ root }, 'run', 'Hello')).code).toBe(0)
  const prompt = '/review the last change'
  const preview = await runCli({ root }, 'request', '--prompt', prompt)
  const body = Buffer.from('Compare the change with the guide.\n').toString('base64')
  expect(preview.stdout).toContain(body)
  const { stderr, stdout } = await runCli({ root }, 'request', '--prompt', '/review --with guide')
  expect(stderr).toContain('context sources are fetched only when a message is sent')
  expect(stdout).not.toContain('Write short sentences.')
  expect((await runCli({ root }, 'run', '--continue', prompt)).code).toBe(0)
  const [events = []] = await sessionsIn(root)
  const sent = events.flatMap((e) => (e.type === 'provider_request' ? [e.data.request_sha256] : []))
  expect(sent).toContain(sha256(preview.stdout))
})

test('[SH-003] a resumed Session on a changed disk sends what the live one would have sent', async () => {
  const { root } = await skilledPlace()
  expect((await runCli({ root }, 'run', '/review --with guide')).code).toBe(0)
  const ask = () => runCli({ root }, 'request', '--prompt', 'And now?')
  const before = await ask()
  expect(before.code).toBe(0)
  await writeFile(
    join(root, 'home/skills/review/SKILL.md'),
    '---\nname: review\ndescription: New.\n---\nNew.\n',
  )
  await writeFile(join(root, 'workspace/docs/guide.md'), 'Write long sentences.\n')
  expect(await ask()).toEqual(before)
  const later = await runCli({ root }, 'run', '--continue', 'And now?')
  expect(later.stderr).toContain('Newer on disk: Skills changed: review.')
  const again = await runCli({ root }, 'run', '--continue', 'And then?')
  expect(again.stderr).not.toContain('Newer on disk')
})
