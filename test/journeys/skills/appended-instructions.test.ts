import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openWorkspace } from '../../../src/index.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { Session } from '../../../src/session/session.ts'
import { runCli } from '../../support/cli/cli.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { localServer } from '../../support/http/local-server.ts'
import { newSession, turn } from '../../support/http/stream-client.ts'
import { value } from '../../support/log/story.ts'
import { recordCheckpoint } from '../../support/pressure/hand-checkpoint.ts'
import { WAYS } from '../../support/providers/ways.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { say } from '../../support/resources/sample-files.ts'
import type { SeenRequest } from '../../support/resources/vision-place.ts'
import { instructionPlace } from '../../support/skills/instruction-place.ts'
import { messagesIn } from '../../support/skills/skill-session.ts'

const HELLO = 'Read none.txt'

function textsIn(request: SeenRequest | undefined): string[] {
  const segments = request?.segments ?? []
  const system = segments.flatMap((one) => (one.role === 'system' ? [one.text] : []))
  return [...system, ...messagesIn(segments).map(([, text]) => text)]
}

function appendedIn(session: Session): WholeEvent<'project_instructions'>['data'][] {
  return session.events.flatMap((event) =>
    event.type === 'project_instructions' ? [event.data] : [],
  )
}

function breaksOf(session: Session): (string | undefined)[] {
  return session.events.flatMap((event) =>
    event.type === 'provider_request' ? [event.data.prefix_break?.cause] : [],
  )
}

test.each(WAYS)(
  '%s: appended instructions follow the surface once, hold for the Session, and no prefix breaks when more are added',
  async (way) => {
    const at = await instructionPlace(way, { setting: 'name' })
    const begin = { ...at.begin, appendInstructions: ['Use tabs.', 'Use tabs.'] }
    const session = value(await at.harness.create(begin))
    expect(await say(session, HELLO)).toBe('completed')
    value(await session.change({ append_instructions: ['Be brief.', 'Use tabs.'] }))
    expect(await say(session, HELLO)).toBe('completed')
    expect(appendedIn(session).map(({ reason, path, bytes }) => [reason, path, bytes])).toEqual([
      ['appended', '+', 9],
      ['appended', '+', 9],
    ])
    const first = textsIn(at.seen[0])
    const label = first.findIndex((text) =>
      text.includes('[Instructions that the person added for this Session, 9 bytes:]'),
    )
    expect(first[label + 1]).toBe('Use tabs.')
    expect(first.findIndex((text) => text.includes(HELLO))).toBeGreaterThan(label)
    const last = textsIn(at.seen.at(-1)).join('\n')
    expect([last.split('Use tabs.').length, last.split('Be brief.').length]).toEqual([2, 2])
    expect(new Set(breaksOf(session))).toEqual(new Set([undefined]))
    // Layer 0 and 1 are those of any other Session.
    const other = value(await at.harness.create(at.begin))
    const surfaceOf = ({ events }: Session) => events.find(({ type }) => type === 'prompt_surface')
    expect(surfaceOf(session)?.data).toEqual(surfaceOf(other)?.data)
    await session.close()

    const again = await instructionPlace(way, { setting: 'name', root: at.root, vendor: at.vendor })
    const resumed = value(await again.harness.open(session.id))
    await say(resumed, HELLO)
    expect(breaksOf(resumed).at(-1)).toBeUndefined()
    await recordCheckpoint(again.parts, resumed, 1)
    await say(resumed, HELLO)
    const compacted = textsIn([...at.seen, ...again.seen].at(-1)).join('\n')
    expect([compacted.split('Use tabs.').length, compacted.split('Be brief.').length]).toEqual([
      2, 2,
    ])
    // A checkpoint carries them, so they are still not added again.
    value(await resumed.change({ append_instructions: ['Be brief.'] }))
    await say(resumed, HELLO)
    expect(appendedIn(resumed)).toEqual([])
    await verified(again, resumed)
  },
)

test('keys and control sequences are removed, and an empty or too long text is refused', async () => {
  const changes = { log: { secrets: [CANARY_KEY] } }
  const at = await instructionPlace('in process', { setting: 'name', changes })
  const [one, two] = [CANARY_KEY.slice(0, 9), CANARY_KEY.slice(9)]
  const text = `Use ${CANARY_KEY} and ${one}\u001b[31m${two}.`
  const session = value(await at.harness.create({ ...at.begin, appendInstructions: [text] }))
  await say(session, HELLO)
  const sent = textsIn(at.seen[0]).join('\n')
  expect(sent).toContain('Use ')
  expect(sent).not.toContain(CANARY_KEY)
  const kinds: string[] = []
  for (const bad of [' \n', '\u001b[31m', 'x'.repeat(32 * 1024)]) {
    const changed = await session.change({ append_instructions: [bad] })
    kinds.push(changed.ok ? 'ok' : changed.error.kind)
  }
  expect(kinds).toEqual(['invalid_args', 'invalid_args', 'too_large'])
  expect(appendedIn(session)).toHaveLength(1)
  await verified(at, session)
})

/** A face that starts a Session with instructions and an effort, runs a Turn, and adds more in the next. */
interface Face {
  readonly name: string
  readonly run: (root: string) => Promise<void>
}

const FACES: readonly Face[] = [
  {
    name: 'run',
    run: async (root) => {
      const first = ['--append-instructions', 'Use tabs.', '--effort', 'low']
      await runCli({ root }, 'run', 'Hello', ...first)
      const more = ['--append-instructions', '@more.md', '--effort', 'high']
      const second = await runCli({ root }, 'run', '-c', 'Hello', ...more)
      expect([second.code, second.stderr]).toEqual([0, expect.any(String)])
    },
  },
  {
    name: 'the library',
    run: async (root) => {
      const workspace = value(
        await openWorkspace(join(root, 'workspace'), { home: join(root, 'home'), env: {} }),
      )
      onTestFinished(() => workspace.close())
      const begin = { effort: 'low', appendInstructions: ['Use tabs.'] } as const
      const session = value(await workspace.create(begin))
      value(await value(await session.admit('Hello')).done)
      const settings = { effort: 'high', append_instructions: ['Be brief.\n'] } as const
      value(await value(await session.admit('Hello', { settings })).done)
      await session.close()
    },
  },
  {
    name: 'HTTP',
    run: async (root) => {
      const server = await localServer({ root })
      const id = await newSession(server, { effort: 'low', appendInstructions: ['Use tabs.'] })
      await (
        await turn(server, id, 'Hello')
      ).ended
      const opts = { effort: 'high', appendInstructions: ['Be brief.\n'] }
      await (
        await turn(server, id, 'Hello', { opts })
      ).ended
    },
  },
]

test.each(FACES)('$name records the same instructions and efforts', async ({ run }) => {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  await writeFile(join(root, 'workspace', 'more.md'), 'Be brief.\n')
  await run(root)
  const shown = await runCli({ root }, 'log', 'show', '--json')
  const events = shown.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; data: Record<string, unknown> })
  const told = events.flatMap(({ type, data }) =>
    type === 'project_instructions'
      ? [[data['reason'], data['bytes']]]
      : type === 'session_settings'
        ? [data['effort']]
        : [],
  )
  expect(told).toEqual(['low', ['appended', 9], 'high', ['appended', 10]])
  const words = await runCli({ root }, 'log', 'show')
  expect(words.stdout).toContain('Instructions added for this Session: 9 bytes')
  const markdown = await runCli({ root }, 'log', 'export')
  expect(markdown.stdout).toContain('Instructions added for this Session: 9 bytes')
  expect((await runCli({ root }, 'log', 'verify', '--requests')).code).toBe(0)
})

test('a value that names an existing file is that file, and what cannot be read is exit 2', async () => {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(join(workspace, 'folder'), { recursive: true })
  await writeFile(join(workspace, 'rules.md'), 'Use tabs.\n')
  await writeFile(join(workspace, 'image.bin'), Buffer.from([0xff, 0xfe, 0]))
  await writeFile(join(workspace, 'long.md'), 'x'.repeat(32 * 1024 + 1))
  await symlink('rules.md', join(workspace, 'link.md'))
  const run = (given: string) => runCli({ root }, 'run', 'Hello', '--append-instructions', given)
  for (const bad of ['@none.md', 'folder', 'image.bin', 'long.md', 'link.md', ' ']) {
    const { code, stderr } = await run(bad)
    expect([bad, code, stderr]).toEqual([bad, 2, expect.stringContaining('instructions')])
  }
  expect((await run('rules.md')).code).toBe(0)
  const words = await runCli({ root }, 'log', 'show')
  expect(words.stdout).toContain('Instructions added for this Session: 10 bytes')
})

test('an effort that a model does not have is refused with those that it has', async () => {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  const env = { ANTHROPIC_API_KEY: CANARY_KEY }
  const { code, stderr } = await runCli({ root, env }, 'run', 'Hello', '--effort', 'minimal')
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('has no effort minimal. Its efforts: low, medium, high, xhigh, max.'),
  ])
})
