import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freshFolder } from '../../test/support/host/folder.ts'
import { value } from '../../test/support/log/story.ts'
import { composeWorkspace } from './workspace.ts'
import { beginSession } from '../session/workspace/begin.ts'
import type { OpenOptions } from '../session/workspace/workspace.ts'

const ENV = {}

async function opened(root: string, options: OpenOptions = { make: true }) {
  const workspace = join(root, 'workspace')
  await mkdir(workspace, { recursive: true })
  const about = { presenter: 'http', version: '1.2.3', env: ENV }
  return composeWorkspace(workspace, join(root, 'home'), { ...about, ...options })
}

test('a presenter of another name runs a Turn without the terminal, and new Sessions record it', async () => {
  const workspace = value(await opened(await freshFolder()))
  onTestFinished(workspace.close)
  const { session, byDefault } = value(await beginSession(workspace, {}, { env: ENV }))
  expect([byDefault, session.state.provider]).toEqual([true, 'rehearsal'])
  const kinds: string[] = []
  const result = value(
    await session.run('Hello', {}, (seen) => {
      if (seen.kind === 'line') kinds.push(seen.line.content.event.type)
    }),
  )
  expect(result).toMatchObject({ status: 'completed', text: expect.stringMatching(/./), denied: 0 })
  expect([kinds[0], kinds.at(-1)]).toEqual(['turn_started', 'turn_ended'])
  const presenters = session.events.flatMap(({ type, data }) => {
    if (type === 'session_started') return [data.presenter]
    return type === 'turn_started' ? [data.source.presenter] : []
  })
  expect(presenters).toEqual(['http', 'http'])
  await session.close()
})

test('a Session continues by its id, by its last characters, or as the latest', async () => {
  const workspace = value(await opened(await freshFolder()))
  onTestFinished(workspace.close)
  const options = { env: ENV }
  const { session } = value(await beginSession(workspace, {}, options))
  await session.close()
  for (const choice of [
    { session: session.id },
    { session: session.id.slice(-8) },
    { session: 'latest' },
    { continue: true, permission: 'auto' as const },
  ]) {
    const again = value(await beginSession(workspace, choice, options))
    expect(again.session.id).toBe(session.id)
    await again.session.close()
  }
  const found = value(await workspace.harness.open(session.id))
  expect(found.state.permission_mode).toBe('auto')
  await found.close()
  expect(await beginSession(workspace, { session: 'nothing' }, options)).toMatchObject({
    error: { kind: 'not_found' },
  })
  const wrong = {
    session: 'latest',
    provider: 'openai',
    model: workspace.defaultModel('anthropic'),
  }
  expect(await beginSession(workspace, wrong, options)).toMatchObject({
    error: { kind: 'model_not_found' },
  })
})

test('an unused workspace is not created unless requested', async () => {
  expect(await opened(await freshFolder(), {})).toMatchObject({ error: { kind: 'not_found' } })
})
