import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { harnessPlace } from '../../../test/support/session/harness-place.ts'
import { openRehearsal } from '../../../test/support/providers/rehearsal-server.ts'
import { value } from '../../../test/support/log/story.ts'
import { wayPlace } from '../../../test/support/providers/ways.ts'
import { earlyWorkspace } from '../../prompt/early-workspace.ts'
import { failed } from '../../model/errors.ts'
import { compareRuns } from './cache-comparison.ts'
import { runProbe } from './run.ts'
import { PROBE_PROMPTS, probeFiles } from './script.ts'
import type { Changes } from '../../../test/support/session/harness-parts.ts'

const CHOICE = { provider: 'rehearsal', model: 'rehearsal' }
const never = new AbortController().signal

async function probePlace(changes: Changes = {}, root?: string) {
  const place = await harnessPlace(changes, root)
  await writeProbeFiles(place.workspace)
  return place
}

async function writeProbeFiles(workspace: string): Promise<void> {
  for (const { path, text } of probeFiles(1)) {
    const file = join(workspace, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

test('every prompt is sent in one Session, and the evidence comes from its Log', async () => {
  const { harness } = await probePlace()
  const ran = await runProbe(harness, CHOICE, probeFiles(1), never)
  if (!ran.ok) throw new Error(ran.error.message)
  const { facts, requests, reads } = ran.value
  expect(reads).toEqual({ expected: 3, right: 3, outside: 0 })
  expect(requests.map(({ turn, call_index }) => [turn, call_index])).toEqual(
    PROBE_PROMPTS.flatMap((_, at) => [
      [at + 1, 0],
      [at + 1, 1],
    ]),
  )
  expect(requests.every(({ usage }) => usage !== undefined)).toBe(true)
  expect([facts.get('transport'), facts.get('permission_mode')]).toEqual([
    ['in-process'],
    ['read-only'],
  ])
  expect((await harness.list()).length).toBe(1)
})

test('files of another workspace do not count as the right ones', async () => {
  const { harness } = await probePlace()
  const ran = await runProbe(harness, CHOICE, probeFiles(2), never)
  expect(ran.ok && ran.value.reads).toEqual({ expected: 3, right: 0, outside: 0 })
})

test('an interrupted run, and one whose model is unavailable, fail with the reason', async () => {
  const { harness } = await probePlace()
  const stopped = await runProbe(harness, CHOICE, [], AbortSignal.abort())
  expect(stopped.ok ? undefined : stopped.error.kind).toBe('interrupted')
  const providerOf = async () => failed('not_configured', 'none')
  const { harness: other } = await probePlace({ model: { providerOf } })
  const refused = await runProbe(other, CHOICE, [], never)
  expect(refused.ok ? undefined : refused.error.kind).toBe('not_configured')
})

test('a workspace is named either first or late, and the rest of a request is the same [PC-027]', async () => {
  const late = await probePlace()
  const contract = earlyWorkspace(late.workspace)
  const early = await probePlace({ model: { contract } }, late.root)
  const [lateRun, earlyRun] = [
    await runProbe(late.harness, CHOICE, probeFiles(1), never),
    await runProbe(early.harness, CHOICE, probeFiles(1), never),
  ]
  if (!lateRun.ok || !earlyRun.ok) throw new Error('a run failed')
  const differing = [...lateRun.value.facts].filter(
    ([fact, values]) => earlyRun.value.facts.get(fact)?.join() !== values.join(),
  )
  expect(differing.map(([fact]) => fact)).toEqual(['layer0_sha256', 'contract_version'])
  const ids = (await late.harness.list()).map(({ id }) => id).toSorted()
  const bodies = await Promise.all(
    ids.map(async (id) => {
      const session = await late.harness.open(id)
      if (!session.ok) throw new Error(session.error.message)
      const request = await session.value.preview('And now?')
      if (!request.ok) throw new Error(request.error.message)
      const layer0 = request.value.segments.find(({ role }) => role === 'system')
      const developer = session.value.events.filter(({ type }) => type === 'late_context')
      return [layer0?.bytes.toString('utf8') ?? '', JSON.stringify(developer)] as const
    }),
  )
  const named = bodies.map(([layer0, context]) => ({
    early: layer0.includes(late.workspace),
    late: context.includes(late.workspace),
  }))
  expect(named).toEqual([
    { early: false, late: true },
    { early: true, late: false },
  ])
})

test('on one server, a change of contract is colder at first, then as warm, and steadier in another workspace [PC-026]', async () => {
  const vendor = await openRehearsal()
  /** A Session under the older or newer contract, in the workspace of `root`, or in a new one without `root`. */
  const ran = async (contract: 'early' | 'late', root?: string) => {
    const { workspace, root: at } = await wayPlace('messages', { vendor, ...(root && { root }) })
    await writeProbeFiles(workspace)
    const changes = contract === 'early' ? { model: { contract: earlyWorkspace(workspace) } } : {}
    const { harness, begin } = await wayPlace('messages', { vendor, root: at, changes })
    return { root: at, evidence: value(await runProbe(harness, begin, probeFiles(1), never)) }
  }
  const { root } = await ran('early')
  const early = [await ran('early', root), await ran('early')]
  const late = [await ran('late', root), await ran('late')]
  const compared = compareRuns(
    'contract',
    { variant: 'early', sessions: early.map(({ evidence }) => evidence) },
    { variant: 'late', sessions: late.map(({ evidence }) => evidence) },
  )
  const { moved, runs } = value(compared)
  // The older contract is warm in this workspace and cold in others; the newer one is cold once and then warm everywhere.
  const warmth = runs.map(({ first, lowest_ratio, other_workspace }) => ({
    first: first.cached_ratio > 0.8,
    later: lowest_ratio > 0.5,
    elsewhere: (other_workspace?.cached_ratio ?? 0) > 0.8,
  }))
  expect(warmth).toEqual([
    { first: true, later: true, elsewhere: false },
    { first: false, later: true, elsewhere: true },
  ])
  expect([runs[1].first.cached_ratio, moved.first < -0.8]).toEqual([0, true])
  expect(moved.other_workspace).toBeGreaterThan(0.8)
})
