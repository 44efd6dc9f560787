import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import type { Ask } from '../../support/session/asked-harness.ts'
import type { HarnessPlace } from '../../support/session/harness-place.ts'
import { value } from '../../support/log/story.ts'
import { wayPlace, WAYS } from '../../support/providers/ways.ts'

async function say(session: Session, text: string): Promise<string> {
  const admitted = value(await session.admit(text))
  return value(await admitted.done).status
}

/** Types of the last Turn's Events, with the outcome of each result. */
function lastTurn(session: Session): string[] {
  const from = session.events.findLastIndex(({ type }) => type === 'turn_started')
  return session.events.slice(from).map((event) => {
    if (event.type === 'tool_result') return `tool_result ${event.data.outcome}`
    if (event.type === 'tool_call') return `tool_call ${event.data.name}`
    return event.type
  })
}

/** Verifies the Log and every request in it; returns the number of requests. */
async function requestsHold({ harness }: HarnessPlace, session: Session): Promise<number> {
  const { log, requests } = value(await harness.verify(session.id, { requests: true }))
  expect([log.damage, requests?.mismatches]).toEqual([undefined, []])
  return requests?.requests ?? 0
}

test.each(WAYS)(
  '%s: a Turn reads a file, answers, and every step of it is in the Log in order',
  async (way) => {
    const place = await wayPlace(way)
    await writeFile(join(place.workspace, 'notes.txt'), 'rope\nsail\n')
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Read notes.txt')).toBe('completed')
    expect(lastTurn(session)).toEqual([
      'turn_started',
      'user_message',
      'late_context',
      'provider_request',
      'assistant_message',
      'tool_call read',
      'provider_usage',
      'tool_result ok',
      'provider_request',
      'assistant_message',
      'provider_usage',
      'turn_ended',
    ])
    expect(await requestsHold(place, session)).toBe(2)
  },
)

test.each(WAYS)(
  '%s: figures of a call name the contract and the transport of its request',
  async (way) => {
    const place = await wayPlace(way)
    await writeFile(join(place.workspace, 'notes.txt'), 'rope\nsail\n')
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Read notes.txt')).toBe('completed')
    const named = (type: 'provider_request' | 'provider_usage') =>
      session.events.flatMap((event) => {
        if (event.type !== type) return []
        const { call_index, contract_version, transport } = event.data
        return [{ call_index, contract_version, transport }]
      })
    const requests = named('provider_request')
    expect(requests).toMatchObject([{ call_index: 0 }, { call_index: 1 }])
    expect(named('provider_usage')).toEqual(requests)
  },
)

test.each(WAYS)(
  '%s: calls that only read run in parallel, and their results are in the order of the calls',
  async (way) => {
    const place = await wayPlace(way)
    await writeFile(join(place.workspace, 'a.txt'), 'one')
    await writeFile(join(place.workspace, 'b.txt'), 'two')
    const session = value(await place.harness.create(place.begin))
    await say(session, 'Read b.txt and a.txt')
    const calls = session.events.flatMap((e) => (e.type === 'tool_call' ? [e.data.call_id] : []))
    const request = value(await session.preview('next'))
    const results = request.segments.flatMap(({ role, bytes }) =>
      role === 'tool_result' ? [calls.find((id) => bytes.includes(id))] : [],
    )
    expect([calls.length, results]).toEqual([2, calls])
    await requestsHold(place, session)
  },
)

test.each(WAYS)(
  '%s: in ask mode without anyone to ask, a change is denied with a reason and the Turn continues',
  async (way) => {
    const place = await wayPlace(way)
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Write "hello" to out.txt')).toBe('completed')
    expect(lastTurn(session)).toContain('tool_result denied')
    const decision = session.events.find(({ type }) => type === 'permission_decision')
    expect(decision?.data).toMatchObject({ decision: 'denied', by: 'nobody', mode: 'ask' })
    await expect(readFile(join(place.workspace, 'out.txt'))).rejects.toThrow('ENOENT')
  },
)

test.each(WAYS)(
  '%s: a yes for the Session covers the chosen offer, and a read-only Session asks nothing',
  async (way) => {
    let questions = 0
    const ask: Ask = async ({ choices }) => {
      questions += 1
      const isOffered = choices.some(({ rule }) => rule?.kind === 'folder')
      return isOffered
        ? { allowed: true, scope: 'session', rule: { kind: 'folder' } }
        : { allowed: true, scope: 'once' }
    }
    const place = await wayPlace(way, { changes: { person: { ask } } })
    const session = value(await place.harness.create(place.begin))
    await say(session, 'Write "hello" to a.txt')
    await say(session, 'Write "hello" to b.txt')
    expect([questions, await readFile(join(place.workspace, 'b.txt'), 'utf8')]).toEqual([
      1,
      'hello',
    ])
    await say(session, 'Write "hello" to AGENTS.md')
    expect(questions).toBe(2)
    value(await session.change({ permission_mode: 'read-only' }))
    await say(session, 'Write "hello" to c.txt')
    expect([questions, lastTurn(session).includes('tool_result denied')]).toEqual([2, true])
  },
)

test.each(WAYS)(
  '%s: [PC-004] a resumed Session sends exactly the bytes that the live one would have sent',
  async (way) => {
    const place = await wayPlace(way)
    await writeFile(join(place.workspace, 'notes.txt'), 'rope\n')
    const session = value(await place.harness.create({ ...place.begin, permissionMode: 'auto' }))
    await say(session, 'Read notes.txt')
    await say(session, 'Write "new" to other.txt and then read it')
    const live = value(await session.preview('What now?'))
    // The files have changed by now, and so has the toolset of the program that resumes.
    await writeFile(join(place.workspace, 'notes.txt'), 'something else')
    const again = await wayPlace(way, {
      changes: { tools: { schemas: [] } },
      root: place.root,
      vendor: place.vendor,
    })
    const resumed = value(await again.harness.open(session.id))
    const next = value(await resumed.preview('What now?'))
    expect(next.body.equals(live.body)).toBe(true)
    expect(resumed.permissionMode).toBe('auto')
    await requestsHold(again, resumed)
  },
)

test.each(WAYS)(
  '%s: a Turn that arrives while another runs is refused, queued or replaces it',
  async (way) => {
    const place = await wayPlace(way)
    const session = value(await place.harness.create(place.begin))
    const first = value(await session.admit('List all files'))
    expect(await session.admit('Read x.txt')).toMatchObject({ error: { kind: 'turn_in_progress' } })
    const queued = session.admit('List all files', { whenBusy: 'queue' })
    expect(value(await first.done).status).toBe('completed')
    const second = value(await queued)
    const replacing = session.admit('List all files', { whenBusy: 'replace' })
    value(await second.done)
    expect(value(await value(await replacing).done).status).toBe('completed')
    const ends = session.events.filter(({ type }) => type === 'turn_ended')
    expect(ends.length).toBe(3)
    await requestsHold(place, session)
  },
)

test.each(WAYS)('%s: text sent while a Turn runs is in its next request', async (way) => {
  const place = await wayPlace(way)
  await writeFile(join(place.workspace, 'a.txt'), 'one')
  const session = value(await place.harness.create(place.begin))
  const admitted = value(await session.admit('List all files'))
  expect(session.steer('Read a.txt')).toBe(true)
  await admitted.done
  const steered = session.events.find((e) => e.type === 'user_message' && e.data.steer === true)
  expect(steered?.data).toMatchObject({ text: 'Read a.txt' })
  expect(lastTurn(session)).toContain('tool_call read')
  expect(session.steer('too late')).toBe(false)
  await requestsHold(place, session)
})

test.each(WAYS)(
  '%s: an interrupted Turn ends as interrupted, and the next one works',
  async (way) => {
    const place = await wayPlace(way)
    const session = value(await place.harness.create({ ...place.begin, permissionMode: 'auto' }))
    const admitted = value(await session.admit('Run `sleep 30`'))
    const watching = session.subscribe()
    for await (const seen of watching) {
      if (seen.kind === 'line' && seen.line.content.event.type === 'permission_decision') break
    }
    session.interrupt()
    expect(value(await admitted.done).status).toBe('interrupted')
    expect(await say(session, 'List all files')).toBe('completed')
    await requestsHold(place, session)
  },
)

test.each(WAYS)('%s: a blank message and one that is too long are refused', async (way) => {
  const place = await wayPlace(way)
  const session = value(await place.harness.create(place.begin))
  expect(await session.admit(' \n')).toMatchObject({ error: { kind: 'invalid_args' } })
  const long = await session.admit('x'.repeat(1_048_577))
  expect(long).toMatchObject({ error: { kind: 'too_large', details: { limit: 1_048_576 } } })
  expect(session.events.length).toBe(2)
})

test.each(WAYS)(
  '%s: [PC-067] Layer 0 and the tools are the same bytes in every workspace',
  async (way) => {
    const one = await wayPlace(way)
    const two = await wayPlace(way)
    const surfaces = await Promise.all(
      [one, two].map(async ({ harness, parts, begin }) => {
        const session = value(
          await harness.create({ ...begin, mode: parts === two.parts ? 'plan' : 'build' }),
        )
        const { inputs } = value(await session.preview('x'))
        return Buffer.concat(inputs.surfaceSegments.map(({ bytes }) => bytes))
      }),
    )
    expect(surfaces[0]?.equals(surfaces[1] ?? Buffer.alloc(0))).toBe(true)
  },
)
