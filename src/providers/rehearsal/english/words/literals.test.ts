import { expect, test } from 'vitest'
import { asMeant, asTyped, mask } from './literals.ts'

function found(text: string): string[] {
  return mask(text).literals.map(({ kind, text: said }) => `${kind} ${said}`)
}

test.each([
  ['read notes.txt.', ['path notes.txt']],
  ['Is it in (src/a.ts)?', ['path src/a.ts']],
  ["package.json's version", ['path package.json']],
  ['look at .env, ../x and ~/y/', ['path .env', 'path ../x', 'path ~/y/']],
  ['C:\\Users\\me\\a.ini', ['path C:\\Users\\me\\a.ini']],
  ['a.ts:10-20', ['path a.ts:10-20']],
  ['all *.ts and src/**/*.md', ['glob *.ts', 'glob src/**/*.md']],
  ['see https://example.com/a.txt', ['link https://example.com/a.txt']],
  ['the Makefile', ['path Makefile']],
])('%s names files', (text, literals) => {
  expect(found(text)).toEqual(literals)
})

test.each([
  'e.g. this and/or that, i.e. 24/7',
  'version 1.2.3 costs 3.50',
  'bob@example.com',
  'x = a.b() + c',
  '**bold** and a * b',
  'done. Then go...',
])('%s names no files', (text) => {
  expect(found(text)).toEqual([])
})

test.each([
  ['“a b” ‘c d’ "e f" \'g h\' «i j» `k l`', ['a b', 'c d', 'e f', 'g h', 'i j', 'k l']],
  ["don't touch the users' files", []],
  ["'it's fine'", ["it's fine"]],
  ['‘don’t panic’', ['don’t panic']],
  ['"He said \\"hi\\""', ['He said "hi"']],
  ['{"a": [1, "b"]} and more', ['{"a": [1, "b"]}']],
  ['```sh\nls\n  pwd\n```', ['ls\n  pwd\n']],
  ['``a `b` c``', ['a `b` c']],
])('%s is quoted text', (text, said) => {
  expect(mask(text).literals.map((literal) => literal.text)).toEqual(said)
})

test('what was masked comes back as it was typed, or as it was meant', () => {
  const text = 'write “x” to `a b.txt`, then\nread c.txt.'
  const masked = mask(text)
  expect(masked.text).toHaveLength('write Q to C, then\nread P.'.length)
  expect(asTyped(masked.text, masked.literals)).toBe(text)
  expect(asMeant(masked.text.slice(6, 7), masked.literals)).toBe('x')
})

test('a placeholder in the text itself passes for nothing', () => {
  const masked = mask('read \uE000 and \uEC00')
  expect(masked.literals).toEqual([])
  expect(masked.text).toBe('read \uFFFD and \uFFFD')
})

test('after a thousand literals the rest is words', () => {
  const masked = mask('a.txt '.repeat(3000))
  expect(masked.literals.length).toBeLessThan(1024)
  expect(asTyped(masked.text, masked.literals)).toBe('a.txt '.repeat(3000))
})
