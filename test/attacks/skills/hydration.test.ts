import { describe, expect, test } from 'vitest'
import { sha256 } from '../../../src/encoding/hash.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { LIMITS } from '../../../src/model/limits.ts'
import type { Session } from '../../../src/session/session.ts'
import { commandSource, handSource } from '../../support/session/hand-skills.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { say } from '../../support/resources/sample-files.ts'
import { hydrations, results, typesOfLastTurn } from '../../support/skills/skill-session.ts'
import { value } from '../../support/log/story.ts'
import { scene, shell } from './hydration-scene.ts'

const { isConfined } = await systemSandbox().status()

describe.skipIf(!isConfined)('a command in the sandbox', () => {
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

  test('the time limit also applies to a tool', async () => {
    const search = { kind: 'tool', name: 'grep', arguments: { pattern: 'a' } } as const
    const { hydrate } = await scene([handSource('search', search, { timeout_ms: 1 })], 'auto')
    expect(await hydrate('search')).toMatchObject([{ status: 'failed' }])
  })

  test('[SH-032] [SH-039] a failure keeps its output and has its exit code', async () => {
    const missing = commandSource('missing', ['no-such-program'])
    const sources = [shell('bad', 'echo out; echo err >&2; exit 3'), missing]
    const { hydrate } = await scene(sources, 'auto')
    expect(await hydrate('missing')).toMatchObject([{ status: 'failed' }])
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
    expect(value(await turn.done).status).toBe('interrupted')
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
    expect(value(await turn.done).status).toBe('interrupted')
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
