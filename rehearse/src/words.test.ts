import { expect, test } from 'vitest'
import { fenced } from '../../src/prompt/words/labels.ts'
import { lost, titledText, view as viewLine } from '../../src/prompt/words/resources.ts'
import { resultText } from '../../src/prompt/words/results.ts'
import type { RehearsalSegment } from '../../src/providers/rehearsal/schema.ts'
import { filePart, userSegment, resultOf, userText, withHandles } from './words.ts'

const CALL = { call_id: 'c', name: 'read' }

test('a result that a dialect wrote is read back unchanged', () => {
  for (const outcome of ['ok', 'failed', 'denied', 'unknown'] as const) {
    for (const output of ['', 'text', 'two\nlines', '[outcome: odd]']) {
      const read = resultOf(CALL, resultText({ outcome, output }))
      expect(read).toEqual({ role: 'tool_result', ...CALL, outcome, output })
    }
  }
  expect(resultOf(CALL, 'text', true)).toMatchObject({ outcome: 'failed', output: 'text' })
})

test('user text, notes of the harness and text files are distinguished', () => {
  expect(userText('Read a.txt')).toEqual(userSegment({ type: 'text', text: 'Read a.txt' }))
  expect(userText(fenced('mode: build'))).toEqual({
    role: 'developer',
    parts: [{ type: 'text', text: 'mode: build' }],
  })
  const file = titledText('@txt1', 'one\ntwo')
  expect(userText(file)).toEqual(
    userSegment(filePart(Buffer.from('one\ntwo'), 'text/plain', '@txt1')),
  )
})

test('a file is named by its handle, even if the handle is written as a file name', () => {
  expect(filePart(Buffer.from('a'), 'application/pdf', 'pdf2.pdf')).toMatchObject({
    handle: '@pdf2',
  })
  expect(filePart(Buffer.from('a'), 'application/pdf', 'report.pdf')).toMatchObject({
    handle: 'report.pdf',
  })
  expect(filePart(Buffer.from('a'), 'image/png')).not.toHaveProperty('handle')
})

function text(words: string): RehearsalSegment {
  return userSegment({ type: 'text', text: words })
}

function handles(segments: readonly RehearsalSegment[]): unknown[] {
  return withHandles(segments).flatMap((segment) =>
    segment.role === 'user'
      ? segment.parts.flatMap((part) => (part.type === 'blob' ? [part.handle] : []))
      : [],
  )
}

test('images get the handles of their description lines, by size or by order', () => {
  const one = filePart(Buffer.alloc(3), 'image/png')
  const two = filePart(Buffer.alloc(7), 'image/png')
  const gif = filePart(Buffer.alloc(9), 'image/gif')
  const lines = [
    text('[@img1: image, "a, b.png", image/png, 7 bytes, 2x2 pixels]'),
    text('[@img2: image, "c.png", image/png, 3 bytes]'),
    text('[@img3: image, "d.gif", image/gif, 100 bytes]'),
  ]
  expect(handles([...lines, userSegment(one), userSegment(two), userSegment(gif)])).toEqual([
    '@img2',
    '@img1',
    '@img3',
  ])
  expect(handles([...lines, userSegment(gif), userSegment(gif)])).toEqual(['@img3', undefined])
})

test('lines of an earlier message do not apply later, and a view names the image after it', () => {
  const answer: RehearsalSegment = { role: 'assistant', parts: [{ type: 'text', text: 'Yes.' }] }
  const image = userSegment(filePart(Buffer.alloc(7), 'image/png'))
  const line = text('[@img1: image, "a.png", image/png, 7 bytes]')
  expect(handles([line, answer, image])).toEqual([undefined])
  expect(
    handles([
      line,
      answer,
      text(viewLine({ handle: '@img1', by: 'person', outcome: 'projected' })),
      image,
    ]),
  ).toEqual(['@img1'])
})

test('a Resource that is not shown names no image, and neither does a failed view', () => {
  const smaller = userSegment(filePart(Buffer.alloc(5), 'image/png'))
  const lines = [
    text('[@img1: image, "a.png", image/png, 70 bytes]'),
    text('[@img2: image, "b.png", image/png, 80 bytes]'),
    text(lost('@img1', { why: 'payload_missing' })),
  ]
  expect(handles([...lines, smaller])).toEqual(['@img2'])
  const view = text(viewLine({ handle: '@img1', by: 'model', outcome: 'missing' }))
  expect(handles([view, smaller])).toEqual([undefined])
})
