import * as z from 'zod'
import { expect, test } from 'vitest'
import {
  DURABILITY,
  EPHEMERAL_DATA,
  EVENT_DATA,
  EVENT_TYPES,
} from '../../src/model/events/event.ts'

/** The fields of an object schema in order, with `?` after optional ones. */
function fieldsOf(schema: z.ZodObject): string {
  return Object.entries(schema.shape)
    .map(([name, field]) => (z.safeParse(field, undefined).success ? `${name}?` : name))
    .join(' ')
}

function pinOf(schemas: Readonly<Record<string, z.ZodObject>>): Record<string, string> {
  return Object.fromEntries(Object.entries(schemas).map(([type, data]) => [type, fieldsOf(data)]))
}

const EVENT_FIELDS = pinOf(EVENT_DATA)

test('the canonical Events and their fields are these, and no other [SH-008]', () => {
  expect(EVENT_TYPES).toEqual(Object.keys(EVENT_FIELDS))
  expect(Object.entries(EVENT_FIELDS)).toMatchSnapshot()
})

test('no Event has a field for the bytes of a Resource [SR-039]', () => {
  const fields = Object.values(EVENT_FIELDS).flatMap((pin) => pin.split(/\?? /))
  expect(fields.filter((field) => /base64|bytes$|^data$|pixels/.test(field))).toEqual([
    // All of them are counts.
    'bytes',
    'text_bytes',
    'body_bytes',
    'filled_bytes',
    'output_bytes',
    'whole_bytes',
    'request_bytes',
    'sent_bytes',
    'shared_prefix_bytes',
    'shown_bytes',
    'cut_bytes',
  ])
})

test('no Event calls a source of context a provider [SH-026]', () => {
  expect(EVENT_FIELDS['skill_context_hydration']).not.toContain('provider')
})

test('the Events that are durable before anyone is notified are these', () => {
  const now = Object.entries(DURABILITY).filter(([, rule]) => rule !== 'soon')
  expect(now.map(([type]) => type)).toMatchSnapshot()
})

test('the ephemeral events are these, and none of them is canonical [PC-061]', () => {
  expect(Object.entries(pinOf(EPHEMERAL_DATA))).toMatchSnapshot()
  expect(EPHEMERAL_DATA.context_pressure.shape.tier.options).toEqual([
    'none',
    'advisory',
    'warning',
    'critical',
    'recovery',
  ])
  const canonical: readonly string[] = EVENT_TYPES
  expect(Object.keys(EPHEMERAL_DATA).filter((type) => canonical.includes(type))).toEqual([])
})
