import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { Session } from '../../../src/session/session.ts'
import { recordCheckpoint } from '../../support/pressure/hand-checkpoint.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { say } from '../../support/resources/sample-files.ts'
import { value } from '../../support/log/story.ts'

const { isConfined } = await systemSandbox().status()
const BEGIN = { provider: 'rehearsal', model: 'rehearsal' } as const

/** The commands that each message shows. */
function shown({ events }: Pick<Session, 'events'>): string[][] {
  return events.flatMap((event) =>
    event.type === 'user_message'
      ? [(event.data.shell ?? []).map(({ command, outcome }) => `${command} ${outcome}`)]
      : [],
  )
}

function types(events: readonly WholeEvent[]): string[] {
  return events.map(({ type }) => type)
}

test.skipIf(!isConfined)(
  'a command of the person runs without a question, and only the next message shows it',
  async () => {
    const place = await harnessPlace()
    const session = value(
      await place.harness.create({ ...BEGIN, permissionMode: 'read-only', mode: 'plan' }),
    )
    const from = session.events.length
    const result = value(await session.runCommand('echo rope > made.txt; cat made.txt; exit 3'))
    expect(result).toMatchObject({
      outcome: 'failed',
      exit_code: 3,
      output: 'rope\n[exit code 3]\n',
    })
    expect(await readFile(join(place.workspace, 'made.txt'), 'utf8')).toBe('rope\n')
    expect(types(session.events.slice(from))).toEqual([
      'shell_command',
      'command_watched',
      'workspace_snapshot',
      'workspace_snapshot',
      'shell_result',
    ])
    value(await session.runCommand('true'))
    expect(types(session.events)).not.toContain('provider_request')
    expect(await say(session, 'Hello')).toBe('completed')
    expect(await say(session, 'Hello again')).toBe('completed')
    expect(shown(session)).toEqual([
      ['echo rope > made.txt; cat made.txt; exit 3 failed', 'true ok'],
      [],
    ])
    await session.close()
    await verified(place, session)
  },
)

test.skipIf(!isConfined)(
  'it is confined to the workspace, like a command of the model',
  async () => {
    const place = await harnessPlace()
    const session = value(await place.harness.create(BEGIN))
    const result = value(await session.runCommand('ls .hawser; echo x > ../outside.txt'))
    expect(result.output).not.toContain('sessions')
    await expect(readFile(join(place.workspace, '..', 'outside.txt'))).rejects.toThrow('ENOENT')
    await session.close()
  },
)

test.skipIf(!isConfined)('an interrupt ends it, and its end is in the Log', async () => {
  const place = await harnessPlace()
  const session = value(await place.harness.create(BEGIN))
  const running = session.runCommand('echo begun; sleep 600')
  for await (const seen of session.subscribe()) {
    if (seen.kind === 'ephemeral' && seen.ephemeral.type === 'tool_progress') break
  }
  expect(await say(session, 'Hello').catch(() => 'refused')).toBe('refused')
  session.interrupt()
  expect(value(await running)).toMatchObject({
    outcome: 'failed',
    error: { kind: 'interrupted' },
    output: 'begun\n[interrupted]\n',
  })
  expect(await say(session, 'Hello')).toBe('completed')
  expect(shown(session)).toEqual([['echo begun; sleep 600 failed']])
  await session.close()
})

test('after a crash the Log has the start alone, and the model is informed that the outcome is unknown', async () => {
  const place = await harnessPlace()
  const session = value(await place.harness.create(BEGIN))
  const data = { command_id: 'cmd_1', command: 'make ropes' }
  value(await session.between(({ record }) => record([{ type: 'shell_command', data }])))
  await session.close()
  const again = await harnessPlace({}, place.root)
  const resumed = value(await again.harness.open(session.id))
  expect(await say(resumed, 'Hello')).toBe('completed')
  expect(shown(resumed)).toEqual([['make ropes unknown']])
  await resumed.close()
  await verified(again, resumed)
})

test('a checkpoint between a command and the message loses nothing, also in another process', async () => {
  const place = await harnessPlace()
  const session = value(await place.harness.create(BEGIN))
  expect(await say(session, 'Hello')).toBe('completed')
  const command_id = 'cmd_1'
  value(
    await session.between(({ record }) =>
      record([
        { type: 'shell_command', data: { command_id, command: 'ls' } },
        {
          type: 'shell_result',
          data: { command_id, outcome: 'ok', exit_code: 0, output: 'a\n', duration_ms: 1 },
        },
      ]),
    ),
  )
  await recordCheckpoint(place.parts, session, 0)
  await session.close()
  const again = await harnessPlace({}, place.root)
  const resumed = value(await again.harness.open(session.id))
  expect(await say(resumed, 'Go on')).toBe('completed')
  expect(await say(resumed, 'And on')).toBe('completed')
  expect(shown(resumed)).toEqual([['ls ok'], []])
  await resumed.close()
  await verified(again, resumed)
})

test('long outputs share a limit, the newest first, and too many commands are counted', async () => {
  const place = await harnessPlace()
  const session = value(await place.harness.create(BEGIN))
  const drafts = Array.from({ length: 25 }, (_, at) => {
    const command_id = `cmd_${at}`
    const output = `${'x'.repeat(at < 24 ? 20_000 : 10_000)}\n`
    return [
      { type: 'shell_command', data: { command_id, command: `run ${at}` } } as const,
      {
        type: 'shell_result',
        data: { command_id, outcome: 'ok', exit_code: 0, output, duration_ms: 1 },
      } as const,
    ]
  }).flat()
  value(await session.between(({ record }) => record(drafts)))
  expect(await say(session, 'Hello')).toBe('completed')
  const message = session.events.find((event) => event.type === 'user_message')
  const { shell = [], shell_omitted } = message?.data ?? {}
  expect([shell.length, shell_omitted, shell.at(-1)?.output.length]).toEqual([20, 5, 10_001])
  expect(shell[0]?.truncated).toBe(true)
  expect(Buffer.byteLength(JSON.stringify(shell))).toBeLessThanOrEqual(36_000)
  await session.close()
  await verified(place, session)
})

test('an empty, a binary and a too long command are refused, and nothing is recorded', async () => {
  const place = await harnessPlace()
  const session = value(await place.harness.create(BEGIN))
  const before = session.events.length
  const kinds: string[] = []
  for (const command of [' ', 'a\0b', 'x'.repeat(9_000)]) {
    const refused = await session.runCommand(command)
    kinds.push(refused.ok ? 'ok' : refused.error.kind)
  }
  expect(kinds).toEqual(['invalid_args', 'invalid_args', 'too_large'])
  expect(session.events).toHaveLength(before)
  await session.close()
})
