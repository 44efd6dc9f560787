import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { Output as Listed } from '../../../src/presenters/cli/commands/settings/permissions.ts'
import type { Session } from '../../../src/session/session.ts'
import type { Question } from '../../../src/session/questions/session-questions.ts'
import { openHome } from '../../../src/host/home.ts'
import { workspaceRules } from '../../../src/host/permission-rules.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import type { Ask } from '../../support/session/asked-harness.ts'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { runCli } from '../../support/cli/cli.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { filesWithKey } from '../../support/session/keyed-place.ts'
import { value } from '../../support/log/story.ts'

const { isConfined } = await systemSandbox().status()

const BEGIN = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'ask' } as const

/** Allows each request with a rule of this kind, or once if there is none, and records the questions. */
function allowWith(kind: string, scope: 'session' | 'workspace') {
  const questions: string[] = []
  const ask: Ask = async (question) => {
    questions.push(subjectOf(question))
    const isOffered = question.choices.some((choice) => choice.rule?.kind === kind)
    return isOffered ? { allowed: true, scope, rule: { kind } } : { allowed: true, scope: 'once' }
  }
  return { ask, questions }
}

/** The command, or the paths of a change. */
function subjectOf({ effect, paths, arguments: given = '' }: Question): string {
  return effect === 'run' ? Run.parse(JSON.parse(given)).command : paths.join(' ')
}

const Run = z.object({ command: z.string() })

async function say(session: Session, text: string): Promise<void> {
  value(await value(await session.admit(text)).done)
}

function decisions(session: Session): WholeEvent<'permission_decision'>['data'][] {
  return session.events.flatMap((event) =>
    event.type === 'permission_decision' ? [event.data] : [],
  )
}

test('a workspace rule outlives the process, is stored only in the home, and is recorded', async () => {
  const first = allowWith('folder', 'workspace')
  const place = await harnessPlace({ person: { ask: first.ask } })
  await mkdir(join(place.workspace, 'src'))
  const session = value(await place.harness.create(BEGIN))
  await say(session, 'Write "a" to src/a.txt')
  await say(session, 'Write "b" to src/b.txt')
  expect(first.questions).toEqual(['src/a.txt'])
  const rule = { kind: 'folder', answer: 'allow', path: 'src' }
  expect(decisions(session)).toMatchObject([
    { by: 'person', decision: 'allowed', scope: 'workspace', rule },
    { by: 'policy', decision: 'allowed', scope: 'workspace', rule },
  ])
  const second = allowWith('file', 'session')
  const again = await harnessPlace({ person: { ask: second.ask } }, place.root)
  const other = value(await again.harness.create(BEGIN))
  await say(other, 'Write "c" to src/c.txt')
  await say(other, 'Write "d" to d.txt')
  await say(other, 'Write "e" to d.txt')
  expect(second.questions).toEqual(['d.txt'])
  const third = allowWith('file', 'session')
  const later = await harnessPlace({ person: { ask: third.ask } }, place.root)
  await say(value(await later.harness.create(BEGIN)), 'Write "f" to d.txt')
  expect(third.questions).toEqual(['d.txt'])
  const file = join(place.root, 'home', 'permissions.json')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readdir(join(place.workspace, '.hawser'))).not.toContain('permissions.json')
})

test('a workspace reached through a link has the rules of its real location', async () => {
  const { harness, workspace, root } = await harnessPlace()
  value(await harness.rules.add({ kind: 'file', answer: 'allow', path: 'a' }))
  const link = join(root, 'link')
  await symlink(workspace, link)
  const other = join(root, 'other')
  await mkdir(other)
  const counts = await Promise.all(
    [link, other].map(async (path) => {
      const { stdout } = await runCli({ root }, 'permissions', '--workspace', path, '--json')
      return Listed.parse(JSON.parse(stdout)).rules.length
    }),
  )
  expect(counts).toEqual([1, 0])
})

test('a link inside a granted folder that leads out of it asks', async () => {
  const { ask, questions } = allowWith('folder', 'session')
  const { harness, workspace } = await harnessPlace({ person: { ask } })
  await mkdir(join(workspace, 'src'))
  await mkdir(join(workspace, 'other'))
  await symlink('../other', join(workspace, 'src', 'out'))
  const session = value(await harness.create(BEGIN))
  await say(session, 'Write "a" to src/a.txt')
  await say(session, 'Write "b" to src/out/b.txt')
  expect(questions).toEqual(['src/a.txt', 'src/out/b.txt other/b.txt'])
})

test('rules that cannot be read make everything ask, and are named', async () => {
  const { ask, questions } = allowWith('none', 'session')
  const { harness, root } = await harnessPlace({ person: { ask } })
  value(await harness.rules.add({ kind: 'folder', answer: 'allow', path: '.' }))
  const file = join(root, 'home', 'permissions.json')
  const whole = await readFile(file, 'utf8')
  for (const damaged of ['{', '[]', whole.replace('"folder"', '"anything"')]) {
    await writeFile(file, damaged)
    const session = value(await harness.create({ ...BEGIN, permissionMode: 'auto' }))
    await say(session, 'Write "a" to a.txt')
    expect(questions.splice(0)).toEqual(['a.txt'])
    expect(failureOf(await runCli({ root }, 'permissions', '--json')).kind).toBe('unreadable')
  }
})

test('a rule that could not be saved applies to the Session, and the person is informed', async () => {
  const { ask, questions } = allowWith('folder', 'workspace')
  const { harness, root } = await harnessPlace({ person: { ask } })
  const broken = await harnessPlace(
    {
      person: {
        ask,
        rules: {
          ...harness.rules,
          add: async () => ({
            ok: false,
            error: {
              kind: 'storage_failed',
              message: 'The disk is full.',
              details: {},
              next_actions: [],
            },
          }),
        },
      },
    },
    root,
  )
  const other = value(await broken.harness.create(BEGIN))
  await say(other, 'Write "a" to a.txt')
  await say(other, 'Write "b" to b.txt')
  expect(questions).toEqual(['a.txt'])
  expect(other.events.find(({ type }) => type === 'notice')?.data).toMatchObject({
    code: 'rule_not_saved',
  })
  expect(decisions(other).map(({ scope }) => scope)).toEqual(['session', 'session'])
})

test.skipIf(!isConfined)(
  'a command that was allowed for the Session runs again without a question, in its folder only',
  async () => {
    const { ask, questions } = allowWith('command', 'session')
    const { harness, workspace } = await harnessPlace({ person: { ask } })
    await mkdir(join(workspace, 'sub'))
    const session = value(await harness.create(BEGIN))
    await say(session, 'Run `node -e 1`')
    await say(session, 'Run `node -e 1`')
    await say(session, 'Run `node -e 2`')
    expect(questions).toEqual(['node -e 1', 'node -e 2'])
  },
)

test('the model receives the reason of a denial', async () => {
  const { harness } = await harnessPlace({
    person: {
      ask: async () => ({ allowed: false, scope: 'once', reason: 'use docs/ for that' }),
    },
  })
  const session = value(await harness.create(BEGIN))
  await say(session, 'Write "a" to a.txt')
  const result = session.events.find(({ type }) => type === 'tool_result')
  expect(result?.data).toMatchObject({
    outcome: 'denied',
    output: 'Denied by the user: it changes a file. Their reason: use docs/ for that',
  })
  expect(decisions(session)).toMatchObject([{ reason: 'use docs/ for that' }])
})

test('rules are added, listed and removed on the command line, and a rule that denies wins', async () => {
  const { root, workspace } = await harnessPlace()
  const hawser = (...argv: readonly string[]) => runCli({ root }, 'permissions', ...argv)
  expect((await hawser()).stdout).toMatch(/^No permission rules/)
  expect((await hawser('allow', '--prefix', 'npm   test')).stdout).toBe(
    'Added: allow  commands that start with `npm test`\n',
  )
  await hawser('allow', '--folder', './src/')
  await hawser('allow', '--command', 'make all', '--in', 'sub')
  await hawser('deny', '--file', 'src/keep.txt')
  await hawser('deny', '--file', 'src/keep.txt')
  expect((await hawser()).stdout.split('\n')).toEqual([
    '  1  allow  commands that start with `npm test`',
    '  2  allow  changes to files in src',
    '  3  allow  the command `make all` in sub',
    '  4  deny   changes to src/keep.txt',
    '',
  ])
  const listed = Listed.parse(JSON.parse((await hawser('--json')).stdout))
  expect(listed).toMatchObject({
    workspace,
    rules: [{ number: 1 }, { number: 2 }, { number: 3 }, { number: 4 }],
  })
  const run = (prompt: string) => runCli({ root }, 'run', '--permission', 'ask', prompt)
  expect((await run('Write "a" to src/a.txt')).code).toBe(0)
  expect((await run('Write "a" to src/keep.txt')).stderr).toContain('a rule denies changes to')
  expect((await run('Write "a" to b.txt')).code).toBe(3)
  expect((await hawser('remove', '2')).stdout).toBe('Removed: allow  changes to files in src\n')
  expect((await run('Write "b" to src/a.txt')).code).toBe(3)
  expect(failureOf(await hawser('remove', '9', '--json')).kind).toBe('not_found')
})

test.each([
  [['allow', '--prefix', 'node'], 'invalid_args'],
  [['allow', '--prefix', 'env npm test'], 'invalid_args'],
  [['allow', '--prefix', 'sh -c'], 'invalid_args'],
  [['allow', '--prefix', 'npm test; rm'], 'invalid_args'],
  [['allow', '--prefix', 'npm $X'], 'invalid_args'],
  [['allow', '--prefix', 'npm'], 'invalid_args'],
  [['allow'], 'invalid_args'],
  [['allow', '--prefix', 'a', '--file', 'b'], 'invalid_args'],
  [['allow', '--file', '../x'], 'outside_workspace'],
  [['allow', '--folder', '/etc'], 'outside_workspace'],
  [['allow', '--file', '.'], 'invalid_args'],
  [['remove', 'x'], 'invalid_args'],
])('permissions %j is refused', async (argv, kind) => {
  const { root } = await harnessPlace()
  expect(failureOf(await runCli({ root }, 'permissions', ...argv, '--json')).kind).toBe(kind)
})

test('a rule that contains a key is not stored', async () => {
  const { parts, root } = await harnessPlace()
  const home = value(await openHome(join(root, 'home')))
  onTestFinished(() => home.close())
  const { clock, ids } = parts.log.place
  const holdsKey = (rule: object) => JSON.stringify(rule).includes(CANARY_KEY)
  const rules = workspaceRules({ home: home.own, workspace: root, ids, clock, holdsKey })
  for (const words of [['curl', CANARY_KEY], [`x=${CANARY_KEY}`]])
    expect(await rules.add({ kind: 'prefix', answer: 'allow', words })).toMatchObject({
      error: { kind: 'invalid_args' },
    })
  value(await rules.add({ kind: 'prefix', answer: 'allow', words: ['curl'] }))
  expect(await filesWithKey(join(root, 'home'))).toEqual([])
})
