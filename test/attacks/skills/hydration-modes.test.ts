import { describe, expect, test } from 'vitest'
import { systemSandbox, type Sandbox } from '../../../src/host/sandbox/sandbox.ts'
import type { Question } from '../../../src/session/questions/session-questions.ts'
import type { Ask } from '../../support/session/asked-harness.ts'
import { commandSource, handSource } from '../../support/session/hand-skills.ts'
import { decisions } from '../../support/skills/skill-session.ts'
import { value } from '../../support/log/story.ts'
import { scene, shell } from './hydration-scene.ts'

const sandbox = systemSandbox()
const { isConfined } = await sandbox.status()

const UNKNOWN = shell('unknown', 'touch ran; echo ran')

describe.skipIf(!isConfined)('the permission mode', () => {
  test('[SH-039] refuses an unknown command in read-only and in plan, with a structured error', async () => {
    const { session, hydrate, unchanged } = await scene(
      [UNKNOWN, commandSource('list', ['ls'])],
      'read-only',
    )
    const [unknown, list] = await hydrate('unknown', 'list')
    expect(unknown).toMatchObject({
      status: 'denied',
      output: '',
      error: { kind: 'hydration_denied' },
      permission: { mode: 'read-only', decision: 'denied', explicit: true },
    })
    expect(list).toMatchObject({ status: 'ok', output: 'a.txt\n' })
    value(await session.change({ mode: 'plan', permission_mode: 'auto' }))
    expect(await hydrate('unknown')).toMatchObject([{ status: 'denied' }])
    expect(await unchanged()).toBe(true)
  })

  test.each([
    ['yes', true, 'ok', 'allowed'],
    ['no', false, 'denied', 'denied'],
  ] as const)(
    'asks about an unknown command, and the answer %s decides',
    async (_, allowed, status, decision) => {
      const questions: Question[] = []
      const ask: Ask = async (question) => {
        questions.push(question)
        return { allowed, scope: 'once' }
      }
      const { hydrate, session, unchanged } = await scene([UNKNOWN], 'ask', {
        changes: { person: { ask } },
      })
      const [made] = await hydrate('unknown')
      expect([made?.status, made?.permission]).toEqual([
        status,
        { mode: 'ask', decision, explicit: true },
      ])
      expect(questions).toMatchObject([
        {
          effect: 'run',
          hydration: {
            skill: 'facts',
            context_source_id: 'unknown',
            argv: ['sh', '-c', 'touch ran; echo ran'],
          },
          choices: [{ text: 'Yes, once' }, { text: 'No' }],
        },
      ])
      expect(questions.map(({ network }) => network)).toEqual([undefined])
      expect(decisions(session)).toMatchObject([{ decision, by: 'person', scope: 'once' }])
      // Even then everything is read-only.
      expect(await unchanged()).toBe(true)
    },
  )

  test('a deny rule of the person holds for a command that only reads', async () => {
    const { hydrate, parts } = await scene([commandSource('list', ['ls'])], 'auto')
    value(
      (await parts.person.rules?.add({ kind: 'prefix', answer: 'deny', words: ['ls'] })) ?? {
        ok: true,
        value: undefined,
      },
    )
    expect(await hydrate('list')).toMatchObject([
      { status: 'denied', error: { kind: 'hydration_denied' } },
    ])
  })
})

describe('without a sandbox', () => {
  const none: Sandbox = {
    status: async () => ({ isConfined: false, why: 'it is off' }),
    confines: async () => false,
    runConfined: (confinement) => sandbox.runConfined(confinement),
    runUnconfined: (confinement) => sandbox.runUnconfined(confinement),
    start: (confinement, program) => sandbox.start(confinement, program),
  }

  test('[SH-024] every command asks, nothing is automatic, and the Event says that nothing confined it', async () => {
    const sources = [
      commandSource('list', ['ls']),
      commandSource('auto', ['ls'], { auto: true }),
      handSource('file', { kind: 'file', path: 'a.txt' }, { auto: true }),
    ]
    const asked: string[] = []
    const ask: Ask = async ({ hydration }) => {
      asked.push(hydration?.context_source_id ?? '')
      return { allowed: true, scope: 'once' }
    }
    const changes = { person: { ask }, tools: { sandbox: none } }
    const { hydrate } = await scene(sources, 'auto', { changes })
    const [list, auto, file] = await hydrate('list')
    expect(asked).toEqual(['list'])
    expect(list).toMatchObject({
      status: 'ok',
      limitations: ['The command ran without a sandbox.'],
    })
    for (const automatic of [auto, file])
      expect(automatic).toMatchObject({ status: 'denied', error: { kind: 'hydration_denied' } })
  })

  test('nothing runs in a read-only Session, or if no one can be asked', async () => {
    const changes = { tools: { sandbox: none } }
    const { hydrate, session } = await scene([commandSource('list', ['ls'])], 'read-only', {
      changes,
    })
    expect(await hydrate('list')).toMatchObject([{ status: 'denied' }])
    value(await session.change({ permission_mode: 'auto' }))
    expect(await hydrate('list')).toMatchObject([{ status: 'denied' }])
    expect(decisions(session).map(({ by }) => by)).toEqual(['policy', 'nobody'])
  })
})
