import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'
import {
  callsWithResults,
  opening,
  textSegment,
  thinkOf,
  user,
} from '../../../test/support/providers/rehearsal-request.ts'
import { canonicalJson } from '../../encoding/json.ts'
import type { Call } from './english/call.ts'

const Newcomer = z.strictObject({
  say: z.string(),
  answer: z.enum(['welcome', 'call', 'no result', 'nothing visible']),
  tool: z.string().optional(),
})

const file = new URL('../../../test/vectors/newcomer-sentences.json', import.meta.url)
const newcomers = z
  .array(Newcomer)
  .min(25)
  .parse(JSON.parse(readFileSync(file, 'utf8')))

const LISTING: Call = { name: 'glob', arguments: { pattern: '*' } }
const FILES = [
  'README.md\nsrc/main.ts\n',
  'my notes.txt\n',
  '日本.md\nb\n',
  '[No files found.]\n',
  '',
]

/** The answer to the first message of a conversation, after the listing if one was made. */
function firstAnswer(say: string, files: string) {
  const first = thinkOf(...opening(say))
  if (canonicalJson(first.calls) !== canonicalJson([LISTING])) return first
  return thinkOf(...opening(say), ...callsWithResults([LISTING], 'ok', files))
}

test.each(newcomers)('a newcomer who types $say gets: $answer', ({ say, answer, tool }) => {
  if (answer === 'call') {
    expect(thinkOf(...opening(say)).calls.map(({ name }) => name)).toEqual([tool])
    return
  }
  for (const files of FILES) {
    const { text, calls } = firstAnswer(say, files)
    expect(calls).toEqual([])
    expect(text).not.toContain('\n')
    expect(text).toContain('offline demo model')
    expect(text).toContain('ANTHROPIC_API_KEY=… or OPENAI_API_KEY=…')
    expect(text).toContain('hawser models')
    expect(text.startsWith('No call has returned a result')).toBe(answer === 'no result')
    expect(text.startsWith('No picture')).toBe(answer === 'nothing visible')
    const suggestions = [...text.matchAll(/“([^”]+)”/g)].map(([, one = '']) => one)
    expect(suggestions.length).toBe(3)
    for (const one of suggestions) {
      const next = thinkOf(...opening(say), textSegment('assistant', text), user(one))
      expect([one, next.calls.length]).toEqual([one, 1])
    }
  }
})

test('the suggestions name files of the workspace', () => {
  expect(firstAnswer('hi', 'README.md\nsrc/main.ts\n').text).toContain(
    'Here are three things to try: “read README.md”, “list the files in "src"” or “write "hello" to hello.txt”.',
  )
  expect(firstAnswer('hi', 'my notes.txt\nhello.txt\n').text).toContain('“read hello.txt”')
  expect(firstAnswer('hi', 'my notes.txt\n').text).toContain('“read "my notes.txt"”')
})

test('a listing that is refused, or not offered, leaves suggestions that work anywhere', () => {
  const refused = thinkOf(...opening('hi'), ...callsWithResults([LISTING], 'denied', 'no'))
  expect(refused.text).toContain('“list the files”')
  expect(thinkOf(...opening('hi', ['read']))).toMatchObject({
    calls: [],
    text: expect.stringContaining('“list the files”') as unknown,
  })
})
