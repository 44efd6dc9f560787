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

test('elsewhere they are found in errors and next actions', () => {
  const tree = new Map([
    [
      'src/session/a.ts',
      "failed('x', `Set ${key} anew, please`, {}, [{ action: 'Mend it, please.' }])\nlog('nobody is here')\n",
    ],
    ['src/session/b.ts', "const next = { action: 'Say --yes to it.' }\n"],
    ['src/session/c.ts', "failed('x', 'This Session can go on, whoever wrote it.')\n"],
  ])
  expect(avoidedWords(tree)).toEqual([
    'src/session/a.ts:1 says "anew"; write: again',
    'src/session/a.ts:1 says "Mend"; write: fix',
    'src/session/b.ts:1 says "Say --"; write: pass',
    'src/session/c.ts:1 says "whoever"; write: name the person or the program',
    'src/session/c.ts:1 says "go on"; write: continue',
  ])
})
