import { expect, test } from 'vitest'
import { random, type Random } from '../../../test/support/host/random.ts'
import { sha256 } from '../../encoding/hash.ts'
import { systemClock } from '../../host/clock.ts'
import { systemIds } from '../../host/ids.ts'
import { lineAt, type LogLine } from '../../log/line.ts'
import { readEvent, type EventDraft } from '../../model/events/event.ts'
import { BlobKey } from '../../model/ids.ts'
import { narrower, type PermissionMode, type SessionMode } from '../../model/modes.ts'
import { sessionFold, type SessionState } from './state.ts'

const ids = systemIds(systemClock)
const SESSION = ids.session()
const RUNS = 400

/** The lines of these Events, from number `from` on. */
function linesOf(drafts: readonly EventDraft[], from = 0): LogLine[] {
  return drafts.map(({ type, data }, at) => {
    const seq = from + at
    const envelope = { v: 1, seq, id: ids.event(), session_id: SESSION, type, data } as const
    const ts = '2026-01-31T12:00:00.000Z'
    const logged = readEvent({ ...envelope, ts, prev: seq === 0 ? null : sha256('a'), crc: '0' })
    return lineAt(logged, sha256(String(seq)), seq * 100, 99)
  })
}

const PERMISSIONS = ['read-only', 'ask', 'auto'] as const
const MODES = ['build', 'plan'] as const
const MODELS = ['a', 'b'] as const

function surface(chance: Random): EventDraft {
  const hash = sha256(String(chance.below(3)))
  const hashes = { layer0_sha256: hash, layer1_sha256: hash, toolset_sha256: hash }
  const params = {
    replay: 'attach-turn',
    late_role: 'user',
    tool_choice: 'auto',
    limits: {},
  } as const
  const blob = BlobKey.parse(`${hash}.json`)
  const rest = {
    contract_version: 'hw1',
    skills_sha256: hash,
    blob,
    params,
    reason: 'reload',
  } as const
  return { type: 'prompt_surface', data: { ...hashes, ...rest } }
}

function checkpoint(seq: number): EventDraft {
  const range = { from_seq: 0, to_seq: seq - 1 }
  const tail = {
    from_seq: seq,
    turns: 1,
    tokens: 1,
    from_offset: seq * 100,
    from_prev: sha256('a'),
  }
  const sizes = { tokens_before: 2, tokens_after: 1 }
  return {
    type: 'history_compaction',
    data: { trigger: 'manual', strategy: 'elide', range, tail, ...sizes },
  }
}

/** A start, then any Events that change what is in force. */
function generated(chance: Random): EventDraft[] {
  const maybe = <T>(value: T): T | undefined => (chance.below(2) === 0 ? value : undefined)
  const start = (): EventDraft => ({
    type: 'session_started',
    data: {
      workspace: '/w',
      provider: chance.pick(MODELS),
      model: chance.pick(MODELS),
      mode: chance.pick(MODES),
      permission_mode: chance.pick(PERMISSIONS),
      presenter: 'cli',
      harness_version: '0.1.0',
    },
  })
  const drafts = [start()]
  for (let left = 1 + chance.below(8); left > 0; left -= 1) {
    const [provider, mode] = [maybe(chance.pick(MODELS)), maybe(chance.pick(MODES))]
    const permission = maybe(chance.pick(PERMISSIONS))
    const settings = {
      ...(provider === undefined ? {} : { provider, model: chance.pick(MODELS) }),
      ...(mode === undefined ? {} : { mode }),
      ...(permission === undefined ? {} : { permission_mode: permission }),
    }
    const kind = chance.below(8)
    drafts.push(
      kind === 0
        ? start()
        : kind === 1
          ? surface(chance)
          : kind === 2
            ? checkpoint(drafts.length)
            : { type: 'session_settings', data: settings },
    )
  }
  return drafts
}

type FoldLines = (lines: readonly LogLine[], head: number) => SessionState

const fold: FoldLines = (lines, head) =>
  lines.reduce(
    (state, line) => sessionFold.step(state, line, line.seq <= head),
    sessionFold.initial,
  )
/** Believes every line, as if the chain proved who wrote it. */
const naive: FoldLines = (lines) => fold(lines, Infinity)

interface InForce {
  readonly permission_mode: PermissionMode
  readonly mode: SessionMode
}

function isWider(a: InForce, b: InForce): boolean {
  const mode = narrower(a.permission_mode, b.permission_mode)
  return mode !== a.permission_mode || (a.mode === 'build' && b.mode === 'plan')
}

/** What a fold does wrong, for every position of the head. */
function offences(foldLines: FoldLines): string[] {
  const found: string[] = []
  for (let seed = 1; seed <= RUNS; seed += 1) {
    const lines = linesOf(generated(random(seed)))
    const plain = fold(lines, Infinity)
    for (let head = 0; head < lines.length; head += 1) {
      const vouched = fold(lines.slice(0, head + 1), Infinity)
      const state = foldLines(lines, head)
      const { provider, model, surface: named, compactions } = state
      if (isWider(state, vouched)) found.push(`seed ${seed}, head ${head}: wider`)
      if (provider !== vouched.provider || model !== vouched.model)
        found.push(`seed ${seed}, head ${head}: another model`)
      if (vouched.surface !== undefined && named?.blob !== vouched.surface.blob)
        found.push(`seed ${seed}, head ${head}: another surface`)
      if (compactions.length > vouched.compactions.length)
        found.push(`seed ${seed}, head ${head}: a checkpoint`)
      if (head === lines.length - 1 && JSON.stringify(state) !== JSON.stringify(plain))
        found.push(`seed ${seed}: not the plain fold`)
    }
  }
  return found
}

test('no line after the head widens anything, and with all lines covered the fold is the plain one', () => {
  expect(offences(fold)).toEqual([])
})

test('a fold that believes every line is caught', () => {
  const kinds = new Set(offences(naive).map((offence) => offence.replace(/^.*: /, '')))
  expect([...kinds].toSorted()).toEqual([
    'a checkpoint',
    'another model',
    'another surface',
    'wider',
  ])
})

test('with the Events that take lines back, the plain fold is what is in force', () => {
  for (let seed = 1; seed <= RUNS; seed += 1) {
    const lines = linesOf(generated(random(seed)))
    for (let head = 0; head < lines.length; head += 1) {
      const state = fold(lines, head)
      const drafts = sessionFold.takeBack?.(state, lines.slice(head + 1)) ?? []
      const after = fold([...lines, ...linesOf(drafts, lines.length)], Infinity)
      const { last_ts: _, ...inForce } = state
      expect([seed, head, { ...after, surface: after.surface?.blob }]).toMatchObject([
        seed,
        head,
        { ...inForce, surface: inForce.surface?.blob },
      ])
      const isSame = JSON.stringify(fold(lines, Infinity)) === JSON.stringify(state)
      if (isSame) expect(drafts.filter(({ type }) => type === 'session_settings')).toEqual([])
    }
  }
})
