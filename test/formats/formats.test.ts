import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../../src/host/clock.ts'
import { openHome } from '../../src/host/home.ts'
import { systemIds } from '../../src/host/ids.ts'
import { inputDrafts } from '../../src/host/typed-input/drafts.ts'
import { inputHistory } from '../../src/host/typed-input/history.ts'
import { CANARY_KEY } from '../support/host/canary.ts'
import { openRehearsal } from '../support/providers/rehearsal-server.ts'
import { runCli, type CliRun } from '../support/cli/cli.ts'
import { freshFolder } from '../support/host/folder.ts'
import { localServer } from '../support/http/local-server.ts'
import { value } from '../support/log/story.ts'
import { restoreHome, storedFiles } from '../support/log/stored-home.ts'
import { openFakeTether } from '../support/tether/fake-tether.ts'

const FORMATS = readdirSync(new URL('.', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

const Listed = z.object({
  sessions: z.array(z.object({ session_id: z.string(), foreign: z.boolean() })),
})
const Exported = z.object({ events: z.array(z.object({ seq: z.number(), type: z.string() })) })

const Numbered = z.looseObject({ seq: z.number() })

/** Text in an answer of a Session that its export must contain in every format. */
const WORDS = {
  forks: 'rope and sail',
  'sessions-and-instances': 'rope and sail',
  'shared-records': 'PNG',
  snapshots: 'rm notes.txt',
  'unsent-and-telegram': 'rope and sail',
} as const

test('every stored format is described, and together they have at most 450 KB', async () => {
  expect(Object.keys(WORDS).toSorted()).toEqual(FORMATS.toSorted())
  let bytes = 0
  for (const format of FORMATS) {
    const folder = new URL(`${format}/`, import.meta.url)
    expect(readdirSync(folder).toSorted()).toEqual(['README.md', 'files.json'])
    bytes += (await readFile(new URL('files.json', folder))).length
  }
  expect(bytes).toBeLessThan(450_000)
})

test.each(FORMATS)(
  'every Session of %s opens, verifies, continues and is exported',
  async (format) => {
    const root = await freshFolder()
    await restoreHome(format, root)
    const vendor = await openRehearsal()
    const env = {
      HAWSER_PROVIDER: 'rehearsal',
      OPENAI_BASE_URL: vendor.baseUrl('responses'),
      OPENAI_API_KEY: CANARY_KEY,
    }
    const hawser = (...argv: readonly string[]) => runCli({ root, env }, ...argv)

    const { sessions } = Listed.parse(output(await hawser('sessions', '--json')))
    expect(sessions.filter(({ foreign }) => !foreign).length).toBeGreaterThan(0)
    for (const { session_id: id, foreign } of sessions) {
      const stored = await logOf(root, id)
      expect(output(await hawser('log', 'verify', id, '--requests', '--json'))).toMatchObject({
        whole: true,
      })
      // Only reading: not one byte has changed.
      expect(await logOf(root, id)).toEqual(stored)

      // What a guest wrote in the records of the person is foreign to them.
      if (!foreign) {
        const turn = ['run', 'What happened?', '--session', id, '--output', 'json']
        expect(output(await hawser(...turn))).toMatchObject({
          status: 'completed',
        })
        const continued = await logOf(root, id)
        expect(continued.subarray(0, stored.length)).toEqual(stored)
        expect(continued.length).toBeGreaterThan(stored.length)
        expect(output(await hawser('log', 'verify', id, '--requests', '--json'))).toMatchObject({
          whole: true,
        })
      }
      const { events } = Exported.parse(
        output(await hawser('log', 'export', id, '--format', 'json')),
      )
      // Numbered without a gap, those that a fork shares with its parents included.
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at))
      expect(events.at(-1)?.seq).toBe(lastSeq(await logOf(root, id)))
    }
    for (const kind of ['markdown', 'html']) {
      const exports = await Promise.all(
        sessions.map(({ session_id }) => hawser('log', 'export', session_id, '--format', kind)),
      )
      expect(exports.map(({ code }) => code)).toEqual(sessions.map(() => 0))
      const word = WORDS[format as keyof typeof WORDS]
      expect(exports.map(({ stdout }) => stdout).join('')).toContain(word)
    }
  },
)

test('sessions-and-instances has what leaves something on disk', async () => {
  const files = await storedFiles('sessions-and-instances')
  const events = [...files]
    .filter(([path]) => path.endsWith('.ndjson') && path.includes('/sessions/'))
    .flatMap(([, bytes]) => bytes.toString().trimEnd().split('\n'))
  const types = new Set(events.map((line) => /"type":"(\w+)"/.exec(line)?.[1] ?? ''))
  expect([...types].toSorted()).toMatchInlineSnapshot(`
    [
      "assistant_message",
      "files_restored",
      "history_compaction",
      "late_context",
      "notice",
      "permission_decision",
      "prompt_surface",
      "provider_request",
      "provider_usage",
      "resource_ingested",
      "resource_view",
      "session_settings",
      "session_started",
      "skill_activation",
      "text_pinned",
      "tool_call",
      "tool_result",
      "turn_ended",
      "turn_started",
      "user_message",
    ]
  `)
  expect([...files.keys()].filter((path) => path.includes('/frames/')).length).toBeGreaterThan(0)
})

test('a file that only a stored snapshot has is restored', async () => {
  const root = await freshFolder()
  await restoreHome('snapshots', root)
  const hawser = (...argv: readonly string[]) => runCli({ root }, ...argv)
  const notes = join(root, 'workspace', 'notes.txt')
  await expect(readFile(notes, 'utf8')).rejects.toThrow('ENOENT')
  expect(output(await hawser('diff', 'latest', '--json'))).toMatchObject({
    files: [{ path: 'notes.txt', diff: expect.stringContaining('-rope and sail') }],
    uncovered: [],
  })
  output(await hawser('undo', 'latest', '--json'))
  expect(await readFile(notes, 'utf8')).toBe('rope and sail\n')
})

test('what was typed and not sent, and a chat that was paired, are still known', async () => {
  const root = await freshFolder()
  await restoreHome('unsent-and-telegram', root)
  const { sessions } = Listed.parse(output(await runCli({ root }, 'sessions', '--json')))
  const id = sessions[0]?.session_id ?? ''

  const home = value(await openHome(join(root, 'home')))
  onTestFinished(() => home.close())
  const place = {
    home: home.own,
    ids: systemIds(systemClock),
    clock: systemClock,
    workspace: join(root, 'workspace'),
  }
  expect(await inputHistory(place).read()).toEqual(['What happened?'])
  expect(await inputDrafts(place).read(id)).toMatchObject({ text: 'And when is high water?' })

  expect(output(await runCli({ root }, 'telegram', 'status', '--json'))).toMatchObject({
    connected: true,
    chats: [{ chat: 4242 }],
  })

  const { api } = await localServer({ root, openTether: openFakeTether })
  const session = `/api/harness/session/${id}`
  expect((await api('GET', `${session}/draft`)).body).toMatchObject({
    draft: { text: 'The draft of the app.', caret: { start: 3, end: 3 } },
  })
  expect((await api('GET', `${session}/queue`)).body).toMatchObject({
    queue: [{ messageKey: 'later', text: 'Sent later.', refused: { kind: 'not_found' } }],
  })
})

function output(run: CliRun): unknown {
  expect(run.code, run.stderr).toBe(0)
  return JSON.parse(run.stdout)
}

function lastSeq(log: Buffer): number {
  const last = log.toString().trimEnd().split('\n').at(-1) ?? ''
  return Numbered.parse(JSON.parse(last)).seq
}

function logOf(root: string, id: string): Promise<Buffer> {
  return readFile(join(root, 'workspace', '.hawser', 'sessions', `${id}.ndjson`))
}
