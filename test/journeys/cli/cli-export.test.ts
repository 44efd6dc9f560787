import { createHash } from 'node:crypto'
import { readdir, readFile, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Lexer } from 'marked'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { ErrorObject } from '../../../src/model/error-shape.ts'
import type { EventDraft } from '../../../src/model/events/event.ts'
import { SessionId } from '../../../src/model/ids.ts'
import { Output } from '../../../src/presenters/cli/commands/log/export.ts'
import { Output as Shown } from '../../../src/presenters/cli/commands/log/show.ts'
import { failureOf, UNSAFE_CHARACTER } from '../../support/cli/cli-answer.ts'
import { runCli, type CliRun } from '../../support/cli/cli.ts'
import { openParts } from '../../support/session/harness-parts.ts'
import { generateLog } from '../../support/history/log-generator.ts'
import { sampleEvents } from '../../support/history/sample-events.ts'
import { sessionStarted, turnEnded, value } from '../../support/log/story.ts'
import {
  commandPlace,
  writeForeignLog,
  logPath,
  corruptLog,
  writeLog,
} from '../../support/session/write-log.ts'

const OTHER = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')
/** The content of an export as JSON. */
const Exported = z.object({
  session: z.unknown(),
  events: z.array(z.object({ ts: z.string() }).loose()),
  damage: ErrorObject.optional(),
})

const EVIL = [
  'www.example.org https://example.org a@example.org </pre></article><script>alert(1)</script><img src=x onerror=alert(1)>',
  '````\n# Forged\n![x](http://127.0.0.1/x.png) <https://127.0.0.1> [a](javascript:1) www.example.org a@example.org',
  '\u001b[2J\u202e\u0000& "quoted" \'text\'',
].join('\n')

/** A Session in which all text of users, models and tools is hostile. */
async function hostileSession(root: string): Promise<SessionId> {
  const { parts, close } = await openParts(root)
  await close()
  const turn_id = parts.log.place.ids.turn()
  const [resource] = sampleEvents().descriptors
  const drafts: EventDraft[] = [
    sessionStarted,
    { type: 'session_settings', data: { title: EVIL } },
    { type: 'turn_started', turn_id, data: { source: { presenter: EVIL } } },
    {
      type: 'user_message',
      turn_id,
      data: {
        text: EVIL,
        prompt_mode: 'blocks',
        resources: resource === undefined ? [] : [{ ...resource, name: EVIL }],
        attachment_errors: [{ code: 'too_large', name: EVIL, reason: EVIL }],
      },
    },
    { type: 'tool_call', turn_id, data: { call_id: 'c', name: EVIL, arguments: EVIL } },
    {
      type: 'tool_result',
      turn_id,
      data: {
        call_id: 'c',
        name: EVIL,
        outcome: 'failed',
        error: { kind: 'no_match', message: EVIL },
        output: EVIL,
        duration_ms: 1,
      },
    },
    { type: 'assistant_message', turn_id, data: { text: EVIL } },
    { type: 'notice', turn_id, data: { code: EVIL, text: EVIL } },
    turnEnded(turn_id),
  ]
  return writeLog(root, drafts)
}

async function exported(root: string, id: SessionId, ...argv: string[]): Promise<CliRun> {
  return runCli({ root }, 'log', 'export', id, ...argv)
}

test('the page contains no tag, reference or control character from outside, and its policy forbids everything but its style', async () => {
  const { root } = await commandPlace()
  const id = await hostileSession(root)
  const { code, stdout, stderr } = await exported(root, id, '--format', 'html')
  expect([code, stderr]).toEqual([0, ''])
  const tags = new Set(stdout.match(/<\/?[a-z0-9]+/g)?.map((tag) => tag.replace(/<\/?/, '')))
  expect([...tags].toSorted().join(' ')).toBe(
    'a article body code dd div dl dt h1 h2 h3 head header html li main meta p pre section style time title ul',
  )
  expect(stdout).not.toMatch(/<[a-z][^>]*\s(src|on\w+|style|action)=/)
  const links = stdout.match(/<[a-z][^>]*\shref=[^>]*>/g) ?? []
  const isSafe = (tag: string) =>
    /^<a href="(?:https?:\/\/|mailto:)[^"]*" rel="noopener noreferrer">$/.test(tag)
  expect(links.filter((tag) => !isSafe(tag))).toEqual([])
  expect(stdout).not.toMatch(UNSAFE_CHARACTER)
  expect(stdout).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  const [, style = ''] = /<style>([^]*?)<\/style>/.exec(stdout) ?? []
  const hash = createHash('sha256').update(style).digest('base64')
  expect(stdout).toContain(
    `content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'"`,
  )
  expect(style).not.toMatch(/url\(|@import/)
})

test('in Markdown no content can become a link, an image, HTML or a heading of the document', async () => {
  const { root } = await commandPlace()
  const id = await hostileSession(root)
  const { code, stdout } = await exported(root, id)
  expect(code).toBe(0)
  expect(stdout).not.toMatch(UNSAFE_CHARACTER)
  const kinds = new Set<string>()
  const look = (tokens: readonly { readonly type: string }[]): void => {
    for (const token of tokens) {
      kinds.add(token.type)
      if ('tokens' in token && Array.isArray(token.tokens)) look(token.tokens)
      if ('items' in token && Array.isArray(token.items)) look(token.items)
    }
  }
  const blocks = new Lexer().lex(stdout)
  look(blocks)
  for (const kind of ['html', 'image', 'link']) expect(kinds).not.toContain(kind)
  const headings = blocks
    .filter(({ type }) => type === 'heading')
    .map(({ raw }) => raw.split(' ')[0])
  expect(headings).toEqual(['#', '##', '###', '###', '###', '###'])
  const texts = blocks.filter(({ type }) => type === 'code').map(({ raw }) => raw)
  // What tools wrote is verbatim; what people and models wrote keeps its own code.
  expect(
    texts.filter((text) => /^`{5}text\n[^]*\n`{4}\n# Forged\n[^]*\n`{5}$/.test(text)),
  ).toHaveLength(2)
  expect(texts.filter((text) => /^`{3}text\n# Forged\n/.test(text))).toHaveLength(2)
})

test('in Markdown the text of people and models is formatted', async () => {
  const { root } = await commandPlace()
  const text = '# Plan\n\n- **first**\n- `second`\n\n```ts\nconst a = 1\n```'
  const id = await writeLog(root, [
    sessionStarted,
    { type: 'user_message', data: { text, prompt_mode: 'string' } },
    { type: 'assistant_message', data: { text } },
  ])
  const { stdout } = await exported(root, id)
  const shown = '#### Plan\n\n- **first**\n- `second`\n\n```ts\nconst a = 1\n```\n'
  expect(stdout.split(shown)).toHaveLength(3)
})

test('as JSON a Session is one value with every Event, including long fields', async () => {
  const { root } = await commandPlace()
  const id = await hostileSession(root)
  const long = 'long '.repeat(20_000)
  await writeLog(root, [{ type: 'text_pinned', data: { text: long, by: 'person' } }], id)
  const whole = await exported(root, id, '--format', 'json')
  const { session, events, damage } = Exported.parse(JSON.parse(whole.stdout))
  expect([whole.code, damage]).toEqual([0, undefined])
  expect(session).toEqual({
    session_id: id,
    title: EVIL,
    turns: 1,
    last_at: events.at(-1)?.ts,
    provider: 'rehearsal',
    model: 'rehearsal',
    mode: 'build',
    foreign: false,
    exported_by: expect.stringMatching(/^hawser /),
  })
  const lines = (await readFile(logPath(root, id), 'utf8')).trimEnd().split('\n')
  const logged = lines.map((line) => Shown.parse(JSON.parse(line)))
  expect(events.slice(0, -1)).toEqual(logged.slice(0, -1))
  expect(events.at(-1)).toEqual({ ...logged.at(-1), data: { text: long, by: 'person' } })
  expect((await exported(root, id, '--json')).stdout).toBe(whole.stdout)
})

test('JSON output cannot control a terminal or hide text, and parses to the original content', async () => {
  const { root } = await commandPlace()
  const hostile = `${EVIL}\u009b31m\u007f\u2066hidden\u2069\u200b\u2028\u{e0041}`
  const pinned: EventDraft = { type: 'text_pinned', data: { text: hostile, by: 'person' } }
  const id = await writeLog(root, [sessionStarted, pinned])
  const { code, stdout } = await exported(root, id, '--format', 'json')
  expect([code, UNSAFE_CHARACTER.test(stdout.replaceAll('\n', ''))]).toEqual([0, false])
  expect(Exported.parse(JSON.parse(stdout)).events.at(-1)?.['data']).toMatchObject({
    text: hostile,
  })
})

test('every Event type can be exported', async () => {
  const { root } = await commandPlace()
  const id = await writeLog(root, [sessionStarted])
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    await writeLog(root, generateLog(seed).drafts.slice(1), id)
  }
  for (const format of ['markdown', 'html', 'json']) {
    const { code, stdout } = await exported(root, id, '--format', format)
    expect(code).toBe(0)
    expect(stdout).not.toMatch(/Unknown Event type|undefined|\[object|NaN/)
  }
})

test('a file is created for its owner only, and never overwrites another', async () => {
  const { root, workspace } = await commandPlace()
  const id = await hostileSession(root)
  const made = await exported(root, id, '--format', 'html', '--output', 'a.html', '--json')
  const path = join(workspace, 'a.html')
  const { size, mode } = await stat(path)
  expect([made.code, mode & 0o777]).toEqual([0, 0o600])
  expect(Output.parse(JSON.parse(made.stdout))).toEqual({
    ok: true,
    session_id: id,
    format: 'html',
    output: 'a.html',
    events: 9,
    bytes: size,
  })
  const page = await readFile(path, 'utf8')
  expect(page).toBe((await exported(root, id, '--format', 'html')).stdout)
  await symlink('nowhere', join(workspace, 'link'))
  for (const output of ['a.html', 'link', '.', 'folder/', '']) {
    const run = await exported(root, id, '--output', output, '--json')
    expect([output, run.code, failureOf(run).kind]).toEqual([output, 2, 'invalid_args'])
  }
  const gone = await exported(root, id, '--output', 'no/a.html', '--json')
  expect([gone.code, failureOf(gone).kind]).toEqual([1, 'not_found'])
  expect(await readFile(path, 'utf8')).toBe(page)
  const words = await exported(root, id, '--output', join(root, 'b.md'))
  expect(words.stdout).toMatch(/^Wrote .*b\.md: 9 Events, [\d,]+ bytes\.\n$/)
  expect((await readdir(workspace)).toSorted()).toEqual(['.hawser', 'a.html', 'link'])
})

test('without a file, --json means the JSON format and contradicts any other', async () => {
  const { root } = await commandPlace()
  const id = await hostileSession(root)
  const run = await exported(root, id, '--json', '--format', 'html')
  expect([run.code, failureOf(run).kind]).toEqual([2, 'invalid_args'])
})

test('a damaged Log is exported up to the damage, and the document says so', async () => {
  const { root } = await commandPlace()
  const id = await hostileSession(root)
  await corruptLog(root, id, (text) => text.replace('"outcome":"failed"', '"outcome":"denied"'))
  for (const format of ['markdown', 'html']) {
    const run = await exported(root, id, '--format', format)
    expect(run.code).toBe(1)
    expect(run.stdout).toMatch(/Incomplete\.[^]*damaged at byte/)
    expect(run.stderr).toMatch(/damaged at byte/)
  }
  const json = await exported(root, id, '--format', 'json')
  const { events, damage } = Exported.parse(JSON.parse(json.stdout))
  expect([json.code, events.length, damage?.kind]).toEqual([1, 5, 'log_damaged'])
})

test('a foreign Session is marked, and a missing or invalid stored text does not stop the export', async () => {
  const { root } = await commandPlace()
  const { parts, close } = await openParts(root)
  const garbage = value(await parts.log.store.put([Buffer.from('{rubbish')], 'application/json'))
  await close()
  await writeForeignLog(root, OTHER, [
    sessionStarted,
    { type: 'assistant_message', data: { text_blob: `${'0'.repeat(64)}.txt` } },
    {
      type: 'user_message',
      data: { text: 'ahoy', prompt_mode: 'string', resources_blob: garbage },
    },
    { type: 'later', data: { text: 'of a newer version' } },
  ])
  const { code, stdout } = await exported(root, OTHER)
  expect(code).toBe(0)
  expect(stdout).toContain('Created on another machine than it was exported on')
  expect(stdout).toContain('\\[The payload of this text is missing.\\]')
  expect(stdout).toContain('### Unknown Event type: user\\_message')
  expect(stdout).toContain('### Unknown Event type: later')
})

test('a change of a file is in every export, as this version records it and as older ones did', async () => {
  const { root } = await commandPlace()
  const diff = (word: string) => `--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+${word}\n`
  const edited = (call_id: string, data: { readonly output: string; readonly diff?: string }) => {
    const result = { call_id, name: 'edit', outcome: 'ok' as const, duration_ms: 1, ...data }
    return { type: 'tool_result', data: result } as const
  }
  const called = (call_id: string, args: object) => {
    const data = { call_id, name: 'edit', arguments: JSON.stringify({ path: 'f', ...args }) }
    return { type: 'tool_call', data } as const
  }
  const id = await writeLog(root, [
    sessionStarted,
    called('1', { old_text: 'old', new_text: 'before' }),
    edited('1', { output: diff('before') }),
    called('2', { edits: [{ old_text: 'old', new_text: 'after' }] }),
    edited('2', { output: 'Edited f: 1 replacement.\n', diff: diff('after') }),
  ])
  for (const argv of [
    ['log', 'export', id],
    ['log', 'export', id, '--format', 'html'],
    ['log', 'show', id],
  ]) {
    const { code, stdout } = await runCli({ root }, ...argv)
    expect(code).toBe(0)
    expect(stdout.match(/^\s*-old$/gm)).toHaveLength(2)
    expect(stdout).toMatch(/^\s*\+before$/m)
    expect(stdout).toMatch(/^\s*Edited f: 1 replacement\.$[^]*^\s*\+after$/m)
  }
})
