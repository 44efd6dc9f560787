import { expect, test } from 'vitest'
import { contentLabel, fenced } from './labels.ts'
import {
  ABSENT_FORMS,
  CONTENT_FORM,
  DESCRIPTOR_FORM,
  hydratedIn,
  HYDRATION_FORM,
  insideFence,
  NOT_SHOWN_FORM,
  REJECTED_FORM,
  RESOURCE_LINE_FORM,
  SENDER_FORM,
  SKILL_FORM,
  VIEW_SHOWN_FORM,
} from './read-back.ts'
import {
  descriptor,
  lost,
  noForm,
  payloadMissing,
  rejected,
  titledText,
  view,
} from './resources.ts'

import { sentBy } from './notes.ts'
import { hydratedText, hydration, skill } from './skills.ts'

const VIEWED = { handle: '@pdf2', by: 'model', pages: { from: 1, to: 3 } }

function handleBy(forms: readonly RegExp[], text: string): string | undefined {
  return forms.flatMap((form) => form.exec(text)?.[1] ?? [])[0]
}

test('each label is parsed to the handle it was written with', () => {
  const link = { handle: '@link4', kind: 'link', uri: 'https://example.org/' } as const
  expect(handleBy([DESCRIPTOR_FORM], descriptor(link, 500))).toBe('@link4')
  expect(handleBy([VIEW_SHOWN_FORM], view({ ...VIEWED, outcome: 'projected' }))).toBe('@pdf2')
  expect(handleBy([CONTENT_FORM], titledText('@txt3', 'one\ntwo'))).toBe('@txt3')
  const absent = [
    lost('@img1', { why: 'refused' }),
    noForm('@img1', 'audio/wav'),
    payloadMissing('@img1'),
    ...(['missing', 'damaged', 'denied', 'quarantined'] as const).map((outcome) =>
      view({ ...VIEWED, handle: '@img1', outcome }),
    ),
  ]
  expect(absent.map((text) => handleBy(ABSENT_FORMS, text))).toEqual(absent.map(() => '@img1'))
})

test.each(['Alice', 'a]: [b', 'a\\\\', 'é'.repeat(99)])(
  'the label of the sender %j is recognized',
  (name) => {
    expect(sentBy(name, 'Hello', 64).replace(SENDER_FORM, '')).toBe('Hello')
    expect(sentBy(name, '', 64).replace(SENDER_FORM, '')).toBe('')
    expect('[x] Hello'.replace(SENDER_FORM, '')).toBe('[x] Hello')
  },
)

test('the lines about Skills are parsed to the names they were written with', () => {
  const name = 'a "b" \\ c'
  const facts = { skill: { name }, output_bytes: 1, output_sha256: 'f' }
  const evidence = hydration({ ...facts, context_source_id: 'id', status: 'denied' })
  expect(SKILL_FORM.exec(skill({ name, args: 'x', activated_by: 'user' }))?.[1]).toBe(
    JSON.stringify(name),
  )
  expect(HYDRATION_FORM.exec(evidence)?.slice(1)).toEqual(['"id"', JSON.stringify(name), 'denied'])
  for (const text of ['', 'one\ntwo\n', '````\n```', 'end'])
    expect(hydratedIn(hydratedText('id', text))).toEqual({
      id: '"id"',
      text: text.replace(/\n$/, ''),
    })
})

test('no label is mistaken for another', () => {
  const texts = [
    descriptor({ handle: '@link4', kind: 'link', uri: 'https://example.org/' }, 500),
    view({ ...VIEWED, outcome: 'projected' }),
    contentLabel('@txt3'),
    lost('@img1', { why: 'refused' }),
  ]
  const forms = [DESCRIPTOR_FORM, VIEW_SHOWN_FORM, CONTENT_FORM, NOT_SHOWN_FORM]
  expect(texts.map((text) => forms.map((form) => form.test(text)))).toEqual(
    texts.map((_, text) => forms.map((__, form) => form === text)),
  )
  for (const text of texts.slice(0, 3)) expect(handleBy(ABSENT_FORMS, text)).toBe(undefined)
})

test('the warning about attachments and the lines about Resources are distinguished from a message', () => {
  for (const count of [1, 2, 5]) {
    const errors = Array.from({ length: count }, () => ({ name: 'a.bin', reason: 'too large.' }))
    expect(`${rejected(errors)}\n\nHello`.replace(REJECTED_FORM, '')).toBe('Hello')
  }
  expect(RESOURCE_LINE_FORM.test(view({ ...VIEWED, outcome: 'projected' }))).toBe(true)
  expect(RESOURCE_LINE_FORM.test('Look at @img1')).toBe(false)
})

test('fenced text is a note, and other text is not', () => {
  expect(insideFence(fenced('mode: build\nbranch: main'))).toBe('mode: build\nbranch: main')
  expect(insideFence('mode: build')).toBe(undefined)
})
