import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sha256 } from '../../src/encoding/hash.ts'
import { systemSandbox, type Sandbox } from '../../src/host/sandbox/sandbox.ts'
import type { ContextSource } from '../../src/model/context-source.ts'
import { LIMITS } from '../../src/model/limits.ts'
import type { PermissionMode } from '../../src/model/modes.ts'
import type { Session } from '../../src/session/live/session.ts'
import type { PermissionQuestion } from '../../src/turn/parts/turn-parts.ts'
import { commandSource, handSource, type HandSkill } from '../support/hand-skills.ts'
import type { Changes } from '../support/harness-parts.ts'
import { verified } from '../support/resource-events.ts'
import { say } from '../support/sample-files.ts'
import {
  decisions,
  hydrations,
  results,
  skillPlace,
  typesOfLastTurn,
  type SkillPlace,
} from '../support/skill-session.ts'
import { value } from '../support/story.ts'
import { treeHash } from '../support/tree-hash.ts'

const { confined } = await systemSandbox().status()

interface Scene extends SkillPlace {
  readonly session: Session
  /** Hydrates these sources with a message and returns their Events. */
  readonly hydrate: (...ids: readonly string[]) => Promise<ReturnType<typeof hydrations>>
  readonly unchanged: () => Promise<boolean>
}

async function scene(
  sources: readonly ContextSource[],
  mode: PermissionMode,
  { changes = {}, skill = {} }: { changes?: Changes; skill?: HandSkill } = {},
): Promise<Scene> {
  const at = await skillPlace('in process', { facts: { ...skill, sources } }, { changes })
  await writeFile(join(at.workspace, 'a.txt'), 'a\n')
  const session = value(await at.harness.create({ ...at.begin, permissionMode: mode }))
  const before = await treeHash(at.workspace, [join(at.workspace, '.hawser')])
  return {
    ...at,
    session,
    hydrate: async (...ids) => {
      const known = hydrations(session).length
      const skills = [{ name: 'facts', with: ids.map((id) => ({ id })) }]
      expect(await say(session, 'Thanks.', { skills })).toBe('completed')
      return hydrations(session).slice(known)
    },
    unchanged: async () =>
      before === (await treeHash(at.workspace, [join(at.workspace, '.hawser')])),
  }
}

function shell(id: string, script: string, more: Partial<ContextSource> = {}): ContextSource {
  return commandSource(id, ['sh', '-c', script], more)
}

describe.skipIf(!confined)('a command in the sandbox', () => {
  test('can neither write nor reach the network nor see the environment, whatever the mode', async () => {
    const { hydrate, unchanged, session, workspace } = await scene(
      [
        shell(
          'write',
          `echo x > made.txt; echo y >> a.txt; rm a.txt; mkdir d; echo z > "$HOME/../x"; true`,
        ),
        shell('env', 'env'),
        shell('network', 'cat < /dev/tcp/1.1.1.1/80; ls /sys/class/net; true'),
        shell('place', 'pwd'),
      ],
      'auto',
    )
    process.env['HYDRATION_CANARY'] = 'canary-in-the-environment'
    const [write, env, , place] = await hydrate('write', 'env', 'network', 'place')
    delete process.env['HYDRATION_CANARY']
    expect(write?.output).toContain('ead-only')
    expect(await unchanged()).toBe(true)
    expect(env?.output).not.toContain('canary')
    expect(env?.output).not.toMatch(/KEY|TOKEN|SECRET/)
    expect(place?.output).toBe(`${workspace}\n`)
    expect(hydrations(session).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok'])
  })

  test('leaves no process behind, and is stopped at its time limit with what it printed', async () => {
    const { hydrate, unchanged } = await scene(
      [
        shell('fork', 'for i in 1 2 3 4 5 6 7 8; do sleep 600 & done; echo forked'),
        shell('hang', 'echo started; trap "" TERM INT; while :; do sleep 1; done', {
          timeout_ms: 700,
        }),
      ],
      'auto',
    )
    const [fork, hang] = await hydrate('fork', 'hang')
    expect(fork).toMatchObject({ status: 'ok', output: 'forked\n' })
    expect(hang).toMatchObject({
      status: 'failed',
      output: 'started\n',
      error: { kind: 'timeout' },
    })
    expect(await unchanged()).toBe(true)
  })

  test('[SH-032] [SH-039] a failure keeps its output and has its exit code', async () => {
    const { hydrate } = await scene([shell('bad', 'echo out; echo err >&2; exit 3')], 'auto')
    expect(await hydrate('bad')).toMatchObject([
      {
        status: 'failed',
        output: 'out\nerr\n',
        error: { kind: 'hydration_failed', details: { exit_code: 3 } },
      },
    ])
  })

  test('[SH-032] binary output becomes text: invalid bytes are replaced and counted', async () => {
    const { hydrate } = await scene(
      [shell('binary', String.raw`printf 'a\377\376b\0\033[31mred\033[0m\r\nc\033]0;t\007\n'`)],
      'auto',
    )
    expect(await hydrate('binary')).toMatchObject([
      {
        status: 'ok',
        output: 'a\uFFFD\uFFFDbred\nc\n',
        invalid_bytes_replaced: 2,
        limitations: ['Control characters were removed from the output.'],
      },
    ])
  })

  test('a key is redacted before the output is cut, also where control sequences divide it', async () => {
    const key = 'sk-0123456789abcdef'
    const { hydrate, parts, session } = await scene(
      [
        shell('cut', `printf '%s%s' 1234sk-01234 56789abcdef`, { max_bytes: 10 }),
        shell('split', String.raw`printf 'sk-01234\033[0m56789abcdef\n'`),
      ],
      'auto',
      { changes: { log: { secrets: [key] } } },
    )
    const [cut, split] = await hydrate('cut', 'split')
    expect([cut?.output, cut?.truncated, split?.output]).toEqual([
      '1234[redac',
      true,
      '[redacted key]\n',
    ])
    const resource = value(await session.resourceNamed(cut?.handle ?? ''))
    const descriptor = resource?.descriptor
    if (descriptor === undefined || !('blob' in descriptor)) throw new Error('no Resource')
    const whole = value(await parts.log.store.get(descriptor.blob)).toString('utf8')
    expect(whole).toBe('1234[redacted key]')
  })

  test('[SH-032] [SH-041] [SH-045] long output is cut between characters, and the whole is a Resource', async () => {
    const { hydrate, session, parts, harness } = await scene(
      [
        shell('long', `i=0; while [ $i -lt 20000 ]; do echo "line $i äöü"; i=$((i+1)); done`, {
          max_bytes: 100_001,
        }),
      ],
      'auto',
    )
    const [long] = await hydrate('long')
    if (long === undefined) throw new Error('nothing')
    const whole = Array.from({ length: 20_000 }, (_, at) => `line ${at} äöü\n`).join('')
    expect([long.status, long.truncated, whole.startsWith(long.output)]).toEqual(['ok', true, true])
    expect(long.output_bytes).toBe(Buffer.byteLength(long.output))
    expect(long.output_bytes).toBeGreaterThan(99_990)
    expect(long.output_sha256).toBe(sha256(long.output))
    expect([long.whole_bytes, long.whole_sha256]).toEqual([Buffer.byteLength(whole), sha256(whole)])
    expect(typesOfLastTurn(session).filter((type) => type.startsWith('resource'))).toEqual([
      'resource_ingested',
    ])
    const found = value(await session.resourceNamed(long.handle ?? ''))?.descriptor
    expect(found).toMatchObject({
      resource_id: long.resource_id,
      source: 'hydration',
      kind: 'text',
      lines: 20_000,
    })
    if (found === undefined || !('blob' in found)) throw new Error('no Resource')
    expect(value(await parts.log.store.get(found.blob)).toString('utf8')).toBe(whole)
    await verified({ harness }, session)
  })

  test('256 KiB are shown at most, and every request with them follows from the Log', async () => {
    const { hydrate, session, harness, seen } = await scene(
      [shell('much', `head -c 400000 /dev/zero | tr '\\0' x`, { max_bytes: 10_000_000 })],
      'auto',
    )
    const [much] = await hydrate('much')
    expect([much?.output_bytes, much?.whole_bytes]).toEqual([
      LIMITS.hydrated_output_max_bytes,
      400_000,
    ])
    expect(JSON.stringify(seen.at(-1)?.segments)).toContain(
      'x'.repeat(LIMITS.hydrated_output_max_bytes),
    )
    expect(await say(session, 'Thanks again.')).toBe('completed')
    await verified({ harness }, session)
  })

  test('an interrupt stops it, and the attempt has an Event', async () => {
    const { session } = await scene(
      [shell('hang', 'echo started; sleep 600', { timeout_ms: 60_000 })],
      'auto',
    )
    const skills = [{ name: 'facts', with: [{ id: 'hang' }] }]
    const decided = nextDecision(session)
    const turn = value(await session.admit('Thanks.', { skills }))
    await decided
    session.interrupt()
    expect(value(await turn.done).ended.status).toBe('interrupted')
    expect(hydrations(session)).toMatchObject([
      { status: 'interrupted', error: { kind: 'interrupted' } },
    ])
    expect(typesOfLastTurn(session).slice(-2)).toEqual(['skill_context_hydration', 'turn_ended'])
  })

  test('an interrupt of a call of the model leaves an Event and a result', async () => {
    const { session } = await scene([shell('hang', 'sleep 600', { timeout_ms: 60_000 })], 'auto')
    const decided = nextDecision(session)
    const turn = value(await session.admit('Use the skill facts. Then hydrate hang of facts.'))
    await decided
    session.interrupt()
    expect(value(await turn.done).ended.status).toBe('interrupted')
    expect(hydrations(session)).toMatchObject([{ status: 'interrupted' }])
    expect(results(session).at(-1)).toMatchObject({
      outcome: 'failed',
      error: { kind: 'interrupted' },
    })
  })
})

/** Resolves when the next decision is recorded. */
function nextDecision(session: Session): Promise<void> {
  const subscription = session.subscribe()
  return (async () => {
    for await (const seen of subscription)
      if (seen.kind === 'line' && seen.whole?.type === 'permission_decision') return
  })()
}

const UNKNOWN = shell('unknown', 'touch ran; echo ran')

describe.skipIf(!confined)('the permission mode', () => {
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
    value(await session.setPosture({ mode: 'plan', permission_mode: 'auto' }))
    expect(await hydrate('unknown')).toMatchObject([{ status: 'denied' }])
    expect(await unchanged()).toBe(true)
  })

  test.each([
    ['yes', true, 'ok', 'allowed'],
    ['no', false, 'denied', 'denied'],
  ] as const)(
    'asks about an unknown command, and the answer %s decides',
    async (_, allowed, status, decision) => {
      const questions: PermissionQuestion[] = []
      const ask = async (question: PermissionQuestion) => {
        questions.push(question)
        return { allowed, scope: 'once', by: 'person' } as const
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
          claim: {
            effect: 'run',
            network: false,
            hydration: {
              skill: 'facts',
              context_source_id: 'unknown',
              argv: ['sh', '-c', 'touch ran; echo ran'],
            },
          },
          offers: [],
        },
      ])
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
    status: async () => ({ confined: false, why: 'it is off' }),
    confined: systemSandbox().confined,
    unconfined: systemSandbox().unconfined,
  }

  test('[SH-024] every command asks, none runs automatically, and the Event says that nothing confined it', async () => {
    const sources = [
      commandSource('list', ['ls']),
      commandSource('auto', ['ls'], { auto: true }),
      handSource('file', { kind: 'file', path: 'a.txt' }, { auto: true }),
    ]
    const asked: string[] = []
    const ask = async ({ claim }: PermissionQuestion) => {
      asked.push(claim.hydration?.context_source_id ?? '')
      return { allowed: true, scope: 'once', by: 'person' } as const
    }
    const changes = { person: { ask }, tools: { sandbox: none } }
    const { hydrate } = await scene(sources, 'auto', { changes })
    const [list, auto, file] = await hydrate('list')
    expect(asked).toEqual(['list'])
    expect(list).toMatchObject({
      status: 'ok',
      limitations: ['The command ran without a sandbox.'],
    })
    expect([auto?.status, auto?.error?.kind, file?.status]).toEqual([
      'denied',
      'hydration_denied',
      'ok',
    ])
  })

  test('nothing runs in a read-only Session, or if no one can be asked', async () => {
    const changes = { tools: { sandbox: none } }
    const { hydrate, session } = await scene([commandSource('list', ['ls'])], 'read-only', {
      changes,
    })
    expect(await hydrate('list')).toMatchObject([{ status: 'denied' }])
    value(await session.setPermissionMode('auto'))
    expect(await hydrate('list')).toMatchObject([{ status: 'denied' }])
    expect(decisions(session).map(({ by }) => by)).toEqual(['policy', 'nobody'])
  })
})

describe('arguments and paths', () => {
  test.each([
    ['a second command', 'x; rm -rf .'],
    ['a line break', 'a\nb'],
    ['an option', '--output=x'],
    ['a parent folder', '../../x'],
    ['an absolute path', '/etc/passwd'],
    ['a home', '~/.ssh/id_rsa'],
  ])('of the model are checked: %s', async (_, path) => {
    const source = commandSource('show', ['cat', '{path}'], {
      parameters: { path: { type: 'path' } },
    })
    const { session, unchanged } = await scene([source], 'auto')
    const call = `Hydrate show of facts with \`${JSON.stringify({ path })}\``
    expect(await say(session, call, { skills: [{ name: 'facts' }] })).toBe('completed')
    const [made] = hydrations(session)
    // Shell syntax is only a strange name.
    const kind = path.startsWith('x;') ? 'hydration_failed' : 'invalid_args'
    expect([made?.status, made?.error?.kind]).toEqual(['failed', kind])
    expect(results(session).at(-1)).toMatchObject({ outcome: 'failed', error: { kind } })
    expect(decisions(session)).toHaveLength(kind === 'invalid_args' ? 0 : 1)
    expect(await unchanged()).toBe(true)
  })

  test('what is not declared cannot be hydrated', async () => {
    const { session } = await scene([commandSource('list', ['ls'])], 'auto')
    expect(await say(session, 'Hydrate other of facts', { skills: [{ name: 'facts' }] })).toBe(
      'completed',
    )
    expect(results(session).at(-1)).toMatchObject({
      outcome: 'failed',
      error: { kind: 'invalid_args', details: { declared: ['list'] } },
    })
    expect([hydrations(session), decisions(session)]).toEqual([[], []])
  })

  test('a file stays in the workspace, whatever its path and whatever a link says', async () => {
    const files = {
      parent: '../outside.txt',
      absolute: '/etc/passwd',
      home: '~/.ssh/id_rsa',
      link: 'link.txt',
      through: 'folder/outside.txt',
      own: '.hawser/sessions',
      missing: 'missing.txt',
      binary: 'binary.dat',
      folder: 'inside',
    }
    const sources = Object.entries(files).map(([id, path]) =>
      handSource(id, { kind: 'file', path }),
    )
    const at = await scene(sources, 'auto')
    await writeFile(join(at.workspace, '../outside.txt'), 'outside')
    await symlink('../outside.txt', join(at.workspace, 'link.txt'))
    await symlink('..', join(at.workspace, 'folder'))
    await mkdir(join(at.workspace, 'inside'))
    await writeFile(join(at.workspace, 'binary.dat'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1]))
    // A message with such a declaration is refused; the model gets a structured error.
    for (const id of ['parent', 'absolute', 'home']) {
      const refused = await at.session.admit('Thanks.', {
        skills: [{ name: 'facts', with: [{ id }] }],
      })
      expect(refused.ok ? 'ok' : refused.error.kind).toBe('invalid_args')
    }
    const made = await at.hydrate('link', 'through', 'own', 'missing', 'binary', 'folder')
    expect(made.map(({ status, error, output }) => [status, error?.kind, output])).toEqual([
      ['failed', 'not_regular_file', ''],
      ['failed', 'outside_workspace', ''],
      ['failed', 'protected_path', ''],
      ['failed', 'not_found', ''],
      ['failed', 'unsupported_type', ''],
      ['failed', 'not_regular_file', ''],
    ])
  })
})

describe('a Skill that changes', () => {
  test('after its activation hydrates as it was activated; edited, it is another Skill', async () => {
    const { session, skills } = await scene(
      [handSource('file', { kind: 'file', path: 'a.txt' })],
      'auto',
      {
        skill: { trust: 'trusted', root: '<repo>/.agents/skills' },
      },
    )
    const turn = value(
      await session.admit('Hydrate file of facts', { skills: [{ name: 'facts' }] }),
    )
    // The edit ends the trust, and would read another file.
    skills.set('facts', {
      trust: 'untrusted',
      root: '<repo>/.agents/skills',
      sources: [handSource('file', { kind: 'file', path: 'b.txt' })],
    })
    expect(value(await turn.done).ended.status).toBe('completed')
    expect(hydrations(session)).toMatchObject([{ status: 'ok', output: 'a\n' }])
    const refused = await session.admit('Thanks.', { skills: [{ name: 'facts' }] })
    expect(refused.ok ? 'ok' : refused.error.kind).toBe('permission_denied')
    // The model cannot activate it either, so it hydrates nothing.
    expect(await say(session, 'Use the skill facts. Then hydrate file of facts.')).toBe('completed')
    expect(hydrations(session)).toHaveLength(1)
    expect(results(session).at(-1)).toMatchObject({
      outcome: 'failed',
      error: { kind: 'invalid_args' },
    })
  })
})
