import { link, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { failed, ok } from '../../../src/model/errors.ts'
import { rehearsalProvider } from '../../../src/providers/rehearsal/stream.ts'
import type { Session } from '../../../src/session/session.ts'
import type { Ask } from '../../support/session/asked-harness.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { picture, say } from '../../support/resources/sample-files.ts'
import type { Changes } from '../../support/session/harness-parts.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { value } from '../../support/log/story.ts'

// Attachments of the agent to its answer, however the Turn ends.

const MODEL = { provider: 'rehearsal', model: 'rehearsal' } as const

async function openSession(changes: Changes = {}) {
  const place = await harnessPlace(changes)
  await writeFile(join(place.workspace, 'chart.png'), picture(2))
  return { ...place, session: value(await place.harness.create(MODEL)) }
}

/** Handles by where they are found: in Resources, in results of calls, and in the answer. */
function found({ events }: Session) {
  const handles = (resources: readonly { readonly handle: string }[] = []) =>
    resources.map(({ handle }) => handle)
  return {
    ingested: events.flatMap((e) =>
      e.type === 'resource_ingested' ? [`${e.data.descriptor.handle} ${e.data.origin}`] : [],
    ),
    results: events.flatMap((e) => (e.type === 'tool_result' ? handles(e.data.resources) : [])),
    answer: events.flatMap((e) =>
      e.type === 'assistant_message' ? handles(e.data.resources) : [],
    ),
  }
}

const KEPT = { ingested: ['@img1 egress'], results: ['@img1'] }

test('a file that the agent attaches is stored unchanged, and the answer contains it', async () => {
  const { session, workspace } = await openSession({ person: { ask: allowing } })
  expect(await say(session, 'Attach chart.png')).toBe('completed')
  expect(found(session)).toEqual({ ...KEPT, answer: ['@img1'] })
  await writeFile(join(workspace, 'chart.png'), 'something else')
  expect(value(await session.resourceBytes('@img1'))).toEqual(picture(2))
  expect(value(await session.resources())).toMatchObject([
    { by: 'agent', state: 'live', payload: 'present', turn: 1, shown: 0 },
  ])
})

test('an attachment of the agent is not lost when the Turn reaches its limit of calls', async () => {
  const { session } = await openSession({ model: { limits: { provider_calls: 1, retries: 0 } } })
  expect(await say(session, 'Attach chart.png')).toBe('call_limit')
  expect(found(session)).toEqual({ ...KEPT, answer: [] })
})

test('an attachment of the agent is not lost when the Turn is interrupted or the model fails', async () => {
  for (const how of ['interrupted', 'network'] as const) {
    const model = rehearsalProvider({ chunk: 64, delayMs: 0 })
    let calls = 0
    const provider: typeof model = {
      ...model,
      async *stream(body, signal) {
        calls += 1
        if (calls === 1) {
          yield* model.stream(body, signal)
          return
        }
        if (how === 'interrupted') session.interrupt()
        yield { type: 'error', error: failed(how, 'The second call failed.').error }
      },
    }
    const { session } = await openSession({ model: { providerOf: async () => ok(provider) } })
    expect(await say(session, 'Attach chart.png')).toBe(how)
    expect(found(session)).toEqual({ ...KEPT, answer: [] })
  }
})

test.each([
  ['a link out of the workspace', 'out.png', 'symlink'],
  ['a path that leads outside', '../outside.png', 'outside_workspace'],
  ['a file with another name', 'twice.png', 'hard_link'],
  ['a folder behind a link', 'away/secret.png', 'outside_workspace'],
])('[SR-012] the agent cannot attach %s', async (_title, path, code) => {
  const { session, workspace, root } = await openSession()
  const away = await freshFolder()
  await writeFile(join(away, 'secret.png'), picture(1))
  await writeFile(join(root, 'outside.png'), picture(1))
  await symlink(join(away, 'secret.png'), join(workspace, 'out.png'))
  await symlink(away, join(workspace, 'away'))
  await link(join(workspace, 'chart.png'), join(workspace, 'twice.png'))
  await say(session, `Attach ${path}`)
  const result = session.events.find((e) => e.type === 'tool_result')
  expect([result?.data.outcome, result?.data.error?.details?.['code']]).toEqual(['failed', code])
  expect(found(session).ingested).toEqual([])
})

test('a handle is never reused: the next attachment has the next number', async () => {
  const { session, workspace } = await openSession()
  await say(session, 'Attach chart.png')
  const path = join(workspace, 'chart.png')
  await say(session, 'What do you see?', { attachments: [{ from: 'path', path }] })
  await say(session, 'Attach chart.png')
  expect(
    session.events.flatMap((e) =>
      e.type === 'user_message'
        ? (e.data.resources ?? []).map(({ handle }) => handle)
        : e.type === 'resource_ingested'
          ? [e.data.descriptor.handle]
          : [],
    ),
  ).toEqual(['@img1', '@img2', '@img3'])
})

const allowing: Ask = async () => ({ allowed: true, scope: 'once' })
