import { expect, test } from 'vitest'
import { wholeEvents } from '../../../test/support/history/sample-resources.ts'
import { value } from '../../../test/support/log/story.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { instructionsSoFar, sameFacts } from '../../history/instructions.ts'
import type {
  InstructionFile,
  InstructionFiles,
} from '../../host/instructions/instruction-files.ts'
import { failed } from '../../model/errors.ts'
import type { EventData } from '../../model/events/event.ts'
import { currentInstructions } from './current-instructions.ts'

const HASH = 'ab'.repeat(32)
const LATE: EventData<'late_context'> = {
  workspace: '/w',
  mode: 'build',
  permission_mode: 'ask',
  date: '2026-01-31',
}

function filesOf(found: readonly InstructionFile[]): InstructionFiles {
  return {
    find: async () => found,
    content: async () => Buffer.from('Use tabs.\n'),
    own: async () => failed('not_found', 'none'),
    foldersTo: (paths) => paths,
  }
}

function after(late: EventData<'late_context'>) {
  return wholeEvents([{ type: 'late_context', data: late }])
}

const KEEPER = {
  put: async () => failed('storage_failed', 'The disk is full.'),
  redactor: new Redactor([]),
}

test('a text that cannot be stored is a failure, and nothing is listed as loaded', async () => {
  const files = filesOf([{ path: 'AGENTS.md', bytes: 10, sha256: HASH }])
  const parts = { files, setting: 'load', isTrusted: async () => true } as const
  const found = await currentInstructions(parts, [], ['.'], KEEPER)
  expect(found.ok ? 'ok' : found.error.kind).toBe('storage_failed')
})

test('without parts, or without files, late context has no list', async () => {
  const parts = { files: filesOf([]), setting: 'name', isTrusted: async () => false } as const
  expect(value(await currentInstructions(undefined, [], ['.'], KEEPER)).facts).toEqual({})
  expect(value(await currentInstructions(parts, [], ['.'], KEEPER)).facts).toEqual({})
})

test('files that vanish leave an empty list, which is the same as none afterwards', async () => {
  const parts = { files: filesOf([]), setting: 'name', isTrusted: async () => false } as const
  const named = { ...LATE, instructions: [{ path: 'AGENTS.md', bytes: 1, content_sha256: HASH }] }
  const { facts } = value(await currentInstructions(parts, after(named), ['.'], KEEPER))
  expect(facts).toEqual({ instructions: [] })
  expect(sameFacts(named, { ...LATE, ...facts })).toBe(false)
  expect(sameFacts({ ...LATE, ...facts }, LATE)).toBe(true)
})

test('that a file changed is said once', async () => {
  const files = filesOf([{ path: 'AGENTS.md', bytes: 2, sha256: HASH }])
  const parts = { files, setting: 'name', isTrusted: async () => false } as const
  const before = { ...LATE, instructions: [{ path: 'AGENTS.md', refused: 'link' as const }] }
  const first = value(await currentInstructions(parts, after(before), ['.'], KEEPER)).facts
  expect(first.instructions).toEqual([
    { path: 'AGENTS.md', bytes: 2, content_sha256: HASH, changed: true },
  ])
  const changed = { ...LATE, ...first }
  const second = value(await currentInstructions(parts, after(changed), ['.'], KEEPER)).facts
  expect(sameFacts(changed, { ...LATE, ...second })).toBe(true)
  expect(instructionsSoFar(after(changed))).toMatchObject({ isShown: true, late: changed })
})
