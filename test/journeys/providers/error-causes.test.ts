import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { runCli } from '../../support/cli/cli.ts'
import { value } from '../../support/log/story.ts'
import { recordingClock, vendorPlace } from '../../support/providers/vendor-place.ts'
import { scriptedServer } from '../../support/providers/vendor-server.ts'
import { commandPlace, logPath } from '../../support/session/write-log.ts'

test('the Log contains the visible error of a failed call, and not its typed cause', async () => {
  const server = await scriptedServer(() => ({
    status: 429,
    headers: { 'retry-after': '7', 'x-request-id': 'req_1' },
    body: '{"type":"error","error":{"type":"rate_limit_error","message":"Slower."}}',
  }))
  const clock = recordingClock()
  const { harness, root } = await vendorPlace(server, { retries: 1, clock })
  const session = value(await harness.create({ provider: 'messages', model: 'a-model' }))
  const ended = value(await value(await session.admit('Good morning.')).done)
  const error = {
    kind: 'rate_limited',
    message: 'Slower. (messages, status 429, request req_1)',
    details: {
      provider: 'messages',
      status: 429,
      type: 'rate_limit_error',
      request_id: 'req_1',
      retry_after_ms: 7_000,
    },
    next_actions: [],
  }
  expect(clock.waits.some((ms) => ms >= 7_000)).toBe(true)
  expect(JSON.parse(JSON.stringify(ended.error))).toStrictEqual(error)
  const live = session.events.flatMap((e) => (e.type === 'turn_ended' ? [e.data.error] : []))
  expect(live).toStrictEqual([error])
  const lines = (await readFile(logPath(root, session.id), 'utf8')).trimEnd().split('\n')
  const logged = lines.map((line) => Line.parse(JSON.parse(line)))
  expect(logged.find(({ type }) => type === 'turn_ended')?.data['error']).toStrictEqual(error)
})

const Line = z.object({ type: z.string(), data: z.record(z.string(), z.unknown()) })

test('a command prints the visible error, and not its typed cause', async () => {
  const { root } = await commandPlace()
  const { stdout } = await runCli({ root }, 'log', 'verify', 'any', '--json')
  expect(JSON.parse(stdout)).toStrictEqual({
    ok: false,
    error: {
      kind: 'not_found',
      message: 'This folder has no Sessions yet.',
      details: { reason: 'never_used' },
      next_actions: [{ action: 'Start one.', command: 'hawser run "What is in this folder?"' }],
    },
  })
})
