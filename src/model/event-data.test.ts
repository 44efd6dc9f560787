import * as z from 'zod'
import { describe, expect, test } from 'vitest'
import {
  withoutField,
  read,
  resource,
  SAMPLES,
} from '../../test/support/history/every-event-data.ts'
import { EVENT_DATA, EVENT_TYPES } from './events/event.ts'

describe.each(EVENT_TYPES)('%s', (type) => {
  const shape: Readonly<Record<string, z.ZodType>> = EVENT_DATA[type].shape

  test('is known with every field of its schema', () => {
    expect(Object.keys(SAMPLES[type]).toSorted()).toEqual(Object.keys(shape).toSorted())
    expect(read(type, SAMPLES[type])).toMatchObject({
      isKnown: true,
      event: { data: SAMPLES[type] },
    })
  })

  test.each(Object.keys(shape))('is known without %s only if that field is optional', (field) => {
    const mayBeAbsent = z.safeParse(shape[field]!, undefined).success
    expect(read(type, withoutField(type, field)).isKnown).toBe(mayBeAbsent)
  })

  test.each(Object.keys(shape))('has an unknown shape if %s has another type', (field) => {
    const other = field === 'item' ? undefined : Number.NaN
    expect(read(type, withoutField(type, field, { [field]: other }))).toMatchObject({
      isKnown: false,
      why: 'unknown_shape',
    })
  })
})

test('a hydration names its producer, even one without arguments [SH-012]', () => {
  const withArgs = (args: object) =>
    read(
      'skill_context_hydration',
      withoutField('skill_context_hydration', 'produced_by', {
        produced_by: { kind: 'file', name: 'a.ts', ...args },
      }),
    ).isKnown
  expect(withArgs({ args: null })).toBe(true)
  expect(withArgs({})).toBe(false)
})

test('a hydration requires its Skill, source, permission and output hash [SH-010] [SH-011] [SH-013] [SH-015]', () => {
  for (const field of [
    'skill',
    'activation_event_id',
    'context_source_id',
    'permission',
    'output_sha256',
  ]) {
    expect(
      read('skill_context_hydration', withoutField('skill_context_hydration', field)).isKnown,
    ).toBe(false)
  }
})

test('a hydration requires its output and accepts the Resource with the complete output [SH-014]', () => {
  const hydrated = (without: string, others: object = {}) =>
    read('skill_context_hydration', withoutField('skill_context_hydration', without, others))
  expect(hydrated('output').isKnown).toBe(false)
  expect(hydrated('resource_id', { resource_id: '../whole.txt' }).isKnown).toBe(false)
  expect(hydrated('', { output: 'the first lines' })).toMatchObject({
    isKnown: true,
    event: { data: { output: 'the first lines', truncated: true, resource_id: resource } },
  })
})

test('a hydration that was not truncated omits default values [SH-015]', () => {
  const { truncated, limitations, resource_id, ...whole } = SAMPLES.skill_context_hydration
  expect([truncated, limitations, resource_id]).toEqual([true, ['cut'], resource])
  expect(read('skill_context_hydration', whole).isKnown).toBe(true)
})

test('the pressure of a call is unavailable or one of four tiers [PC-049]', () => {
  const withPressure = (pressure: unknown) =>
    read('provider_usage', withoutField('provider_usage', 'pressure', { pressure })).isKnown
  expect(withPressure('unavailable')).toBe(true)
  expect(withPressure({ tier: 'recovery', ratio: 1, window_tokens: 1 })).toBe(false)
  expect(withPressure('unknown')).toBe(false)
})

test('the record of a call requires its contract version [PC-038]', () => {
  const named = (contract_version?: unknown) => {
    const others = contract_version === undefined ? {} : { contract_version }
    return read('provider_request', withoutField('provider_request', 'contract_version', others))
  }
  expect([named(), named(1), named(null)].map(({ isKnown }) => isKnown)).toEqual([
    false,
    false,
    false,
  ])
  expect(named('hw2')).toMatchObject({
    isKnown: true,
    event: { data: { contract_version: 'hw2' } },
  })
})

test('figures of a call have its contract version, and in a Log of an earlier version neither it nor the transport [PC-038]', () => {
  const usage = (contract_version: unknown) =>
    read('provider_usage', withoutField('provider_usage', 'contract_version', { contract_version }))
  expect([usage(1), usage(null)].map(({ isKnown }) => isKnown)).toEqual([false, false])
  expect(usage('hw2')).toMatchObject({
    isKnown: true,
    event: { data: { contract_version: 'hw2' } },
  })
  for (const field of ['contract_version', 'transport']) {
    expect(read('provider_usage', withoutField('provider_usage', field)).isKnown).toBe(true)
  }
})

test('the record of a call contains its transport, whether it continued, and why not [PC-030]', () => {
  const request = (without: string, others: object = {}) =>
    read('provider_request', withoutField('provider_request', without, others))
  expect(request('transport').isKnown).toBe(false)
  expect(request('', { previous_response_id_used: 'yes' }).isKnown).toBe(false)
  expect(request('')).toMatchObject({
    event: { data: { transport: 'websocket', previous_response_id_used: true } },
  })
  const continued = (continuation: unknown) =>
    read('provider_usage', withoutField('provider_usage', 'continuation', { continuation }))
  for (const bad of [{}, { used: 'no' }, { used: false, reset_reason: 1 }, 'reset']) {
    expect(continued(bad).isKnown).toBe(false)
  }
  for (const good of [{ used: true }, { used: false, reset_reason: 'model_changed' }]) {
    expect(continued(good)).toMatchObject({
      isKnown: true,
      event: { data: { continuation: good } },
    })
  }
})

test('a checkpoint may list its limitations, each a sentence [PC-044]', () => {
  const limitations = [1]
  expect(
    read('history_compaction', withoutField('history_compaction', 'limitations', { limitations }))
      .isKnown,
  ).toBe(false)
})

test('a view records the Resource, who requested it and the outcome [SR-043]', () => {
  for (const field of ['resource_id', 'by', 'outcome']) {
    expect(read('resource_view', withoutField('resource_view', field)).isKnown).toBe(false)
  }
})

test('a fork names at most 64 Resources', () => {
  const resources = (count: number) =>
    Array.from({ length: count }, () => ({ parent_resource_id: resource, resource_id: resource }))
  const forked = (count: number) =>
    read('session_fork', withoutField('session_fork', '', { resources: resources(count) })).isKnown
  expect([forked(64), forked(65)]).toEqual([true, false])
})

test('a message key has 1 to 128 bytes', () => {
  const keyed = (message_key: unknown) =>
    read('turn_started', { source: { presenter: 'test', message_key } }).isKnown
  expect(['k', 'k'.repeat(128), 'é'.repeat(64)].map(keyed)).toEqual([true, true, true])
  expect(['', 'k'.repeat(129), 'é'.repeat(65), 1, null].some(keyed)).toBe(false)
})
