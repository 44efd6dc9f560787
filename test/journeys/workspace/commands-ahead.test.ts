import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemSandbox, type CommandAhead } from '../../../src/host/sandbox/sandbox.ts'
import type { RuleStore } from '../../../src/host/permission-rules.ts'
import type { Rule } from '../../../src/model/rule.ts'
import type { PermissionMode } from '../../../src/model/modes.ts'
import type { Ask } from '../../support/session/asked-harness.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { value } from '../../support/log/story.ts'

const { isConfined } = await systemSandbox().status()

interface Scene {
  readonly command: string
  readonly permissionMode?: PermissionMode
  readonly rules?: readonly Rule[]
  /** Done when the sandbox waits for its command, before the command is judged. */
  readonly meanwhile?: (rules: RuleStore, workspace: string) => Promise<unknown>
}

/** A Turn with one command: what was prepared and used, which questions there were, and how the command ended. */
async function oneCommand({ command, permissionMode = 'auto', rules = [], meanwhile }: Scene) {
  const sandbox = systemSandbox()
  const prepared: CommandAhead[] = []
  let unused = 0
  const prepare: typeof sandbox.prepare = (...order) => {
    const real = sandbox.prepare?.(...order)
    if (real === undefined) throw new Error('nothing can be prepared here')
    const end = async () => {
      if (!real.isTaken()) unused += 1
      await real.end()
    }
    const ahead = { ...real, end }
    prepared.push(ahead)
    return ahead
  }
  const questions: string[] = []
  const ask: Ask = async ({ reason }) => {
    questions.push(reason)
    return { allowed: false, scope: 'once' }
  }
  const plain = await harnessPlace({ person: { ask } })
  const { rules: store } = plain.parts.person
  if (store === undefined) throw new Error('there are no rules')
  for (const rule of rules) value(await store.add(rule))
  const late: RuleStore = {
    ...store,
    read: async () => {
      if (prepared.length > 0 && meanwhile !== undefined) {
        expect(await prepared[0]?.waits()).toBe(true)
        await meanwhile(store, plain.workspace)
      }
      return store.read()
    },
  }
  const changes = { person: { ask, rules: late }, tools: { sandbox: { ...sandbox, prepare } } }
  const { harness } = await harnessPlace(changes, plain.root)
  const begin = { provider: 'rehearsal', model: 'rehearsal', permissionMode } as const
  const session = value(await harness.create(begin))
  value(await value(await session.admit(`Run ${command}`)).done)
  const results = session.events.flatMap((event) =>
    event.type === 'tool_result' ? [event.data] : [],
  )
  return {
    prepared: prepared.length,
    /** The others were ended with the Turn. */
    used: prepared.length - unused,
    questions: questions.length,
    results,
  }
}

const DENIED: Rule = { kind: 'prefix', answer: 'deny', words: ['echo'] }
const RESET: Rule = { kind: 'prefix', answer: 'allow', words: ['git', 'reset', '--hard'] }

test.runIf(isConfined)('a command in auto takes the sandbox that was prepared for it', async () => {
  const turn = await oneCommand({ command: '`echo hi`' })
  expect(turn).toMatchObject({ used: 1, questions: 0 })
  expect(turn.results).toMatchObject([{ outcome: 'ok' }])
})

test.runIf(isConfined)(
  'a rule that denies a command, made after its sandbox was prepared, still denies it',
  async () => {
    const meanwhile = async (rules: RuleStore) => value(await rules.add(DENIED))
    const turn = await oneCommand({ command: '`echo hi`', meanwhile })
    expect(turn).toMatchObject({ used: 0 })
    expect(turn.prepared).toBeGreaterThan(0)
    expect(turn.results).toMatchObject([{ outcome: 'denied' }])
  },
)

test.runIf(isConfined)(
  'a rule that allows a command, removed after its sandbox was prepared, no longer allows it',
  async () => {
    const kept = await oneCommand({ command: '`git reset --hard`', rules: [RESET] })
    expect(kept).toMatchObject({ used: 1, questions: 0 })
    const meanwhile = async (rules: RuleStore) => value(await rules.remove(RESET))
    const turn = await oneCommand({ command: '`git reset --hard`', rules: [RESET], meanwhile })
    expect(turn).toMatchObject({ used: 0, questions: 1 })
    expect(turn.results).toMatchObject([{ outcome: 'denied' }])
  },
)

test.runIf(isConfined)(
  'a file that is protected and appears after the sandbox was prepared cannot be written',
  async () => {
    const meanwhile = (_rules: RuleStore, workspace: string) =>
      writeFile(join(workspace, 'AGENTS.md'), 'as it was')
    const turn = await oneCommand({ command: '`echo x >AGENTS.md; cat AGENTS.md`', meanwhile })
    expect(turn.results.map(({ output }) => output).join('')).toContain('as it was')
  },
)

test.runIf(isConfined).each(['ask', 'read-only'] as const)(
  'in %s no sandbox is prepared',
  async (permissionMode) => {
    const turn = await oneCommand({ command: '`echo hi`', permissionMode })
    expect(turn.prepared).toBe(0)
  },
)
