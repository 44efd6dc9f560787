import { expect, test } from 'vitest'
import { avoidedWords } from './language-checks.ts'

test('avoided words are found in every text of a presenter', () => {
  const tree = new Map([
    [
      'src/presenters/cli/a.ts',
      "export const HELP = 'delete it for ever'\nconst told = `x ${told}`\n",
    ],
    ['src/presenters/cli/a.test.ts', "test('nobody is asked', () => {})\n"],
    ['src/presenters/cli/b.ts', "export const KEY = 'nobody'\n// Nobody reads this.\n"],
  ])
  expect(avoidedWords(tree)).toEqual([
    'src/presenters/cli/a.ts:1 says "for ever"; write: permanently',
  ])
})

test('they are found in every text of the source, except the grammar of the rehearsal model', () => {
  const tree = new Map([
    [
      'src/session/a.ts',
      "failed('x', `Set ${key} anew, please`, {}, [{ action: 'Mend it, please.' }])\n",
    ],
    ['src/session/b.ts', "const next = { action: 'Say --yes to it.' }\n"],
    ['src/session/c.ts', "failed('x', 'This Session can go on, whoever wrote it.')\n"],
    ['src/tools/d.ts', 'export const NOTE = `${path} is not there`\n'],
    ['src/tools/f.ts', "export const NONE = 'No tool of that name exists.'\n"],
    ['src/providers/rehearsal/english/e.ts', "export const VERB = 'go on'\n"],
  ])
  expect(avoidedWords(tree)).toEqual([
    'src/session/a.ts:1 says "anew"; write: again',
    'src/session/a.ts:1 says "Mend"; write: fix',
    'src/session/b.ts:1 says "Say --"; write: pass',
    'src/session/c.ts:1 says "whoever"; write: name the person or the program',
    'src/session/c.ts:1 says "go on"; write: continue',
    'src/tools/d.ts:1 says "is not there"; write: does not exist',
    'src/tools/f.ts:1 says "of that name"; write: with that name',
  ])
})

test('a name of the code in a sentence is found, and a script is not a sentence', () => {
  const tree = new Map([
    ['src/a.ts', "export const A = 'It was created workspaceFile.'\n"],
    ['src/b.ts', 'export const B = `PendingAttachment to your message: ${words}`\n'],
    ['src/c.ts', 'export const C = "OpenAI over WebSockets, 3 MiB, `camelCase`, a.base_url"\n'],
    ['src/d.ts', 'export const D = `\n  const textOf = 1\n`\n'],
  ])
  expect(avoidedWords(tree)).toEqual([
    'src/a.ts:1 says "workspaceFile"; write: a word',
    'src/b.ts:1 says "PendingAttachment"; write: a word',
  ])
})
