import { expect, test } from 'vitest'
import { CompactionTrigger } from '../../src/model/events/compaction-events.ts'
import { Descriptor, HANDLE_PREFIXES, RESOURCE_SOURCES } from '../../src/model/descriptor.ts'
import { Dialect } from '../../src/model/events/provider-events.ts'
import { BreakCause, ResetReason } from '../../src/model/prefix-break.ts'
import { PermissionMode, Replay, SessionMode } from '../../src/model/modes.ts'
import { ToolOutcome } from '../../src/model/events/tool-events.ts'
import { TurnStatus } from '../../src/model/turn-status.ts'

test('a checkpoint is triggered by one of these [PC-060]', () => {
  expect(CompactionTrigger.options).toMatchSnapshot()
})

test('a prefix breaks for one of these causes', () => {
  expect(BreakCause.options).toMatchSnapshot()
})

test('a request is sent whole over a socket for one of these reasons', () => {
  expect(ResetReason.options).toMatchSnapshot()
})

test('a request is in one of these dialects', () => {
  expect(Dialect.options).toMatchSnapshot()
})

test('a Session has one of these modes, permission modes and ways to replay attachments', () => {
  expect(SessionMode.options).toEqual(['build', 'plan'])
  expect(PermissionMode.options).toEqual(['read-only', 'ask', 'auto'])
  expect(Replay.options).toEqual(['attach-turn', 'window', 'cost-aware'])
})

test('a Turn and a tool call end with one of these outcomes', () => {
  expect(TurnStatus.options).toEqual(['completed', 'failed', 'interrupted', 'refused'])
  expect(ToolOutcome.options).toEqual(['ok', 'failed', 'denied', 'unknown'])
})

test('a Resource has one of these kinds, each with its handle, and sources [SR-022]', () => {
  expect(HANDLE_PREFIXES).toMatchSnapshot()
  const [stored, link] = Descriptor.options
  expect([...stored.shape.kind.options, link.shape.kind.value].toSorted()).toEqual(
    Object.keys(HANDLE_PREFIXES).toSorted(),
  )
  expect(RESOURCE_SOURCES).toMatchSnapshot()
})
