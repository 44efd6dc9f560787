import { expect, test } from 'vitest'
import { contentKind } from './content-kind.ts'

test.each([
  ['<!-- a --> <!-- b --><html>', 'an HTML page'],
  ['<?xml version="1.0"?><!-- a --><svg xmlns="x">', 'an SVG drawing'],
  ['<?xml version="1.0"?><data/>', 'an XML document'],
  ['<!-- nothing else -->', 'text'],
])('%s is recognized', (text, kind) => {
  expect(contentKind(Buffer.from(text))).toBe(kind)
})

test('very many comments are skipped in linear time', () => {
  expect(contentKind(Buffer.from(`${'<!---->'.repeat(146)}x`))).toBe('text')
})
