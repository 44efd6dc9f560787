import { expect, test } from 'vitest'
import { avoidedInComments, avoidedWords } from './language-checks.ts'

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
    ['rehearse/src/g.ts', "export const G = 'the text of this name'\n"],
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
    'rehearse/src/g.ts:1 says "of this name"; write: with that name',
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

test('avoided words are found in every comment and title, over the end of a line, but not in code', () => {
  const tree = new Map([
    [
      'src/a.ts',
      '// The settings of\n// now.\nconst a = 1 // Not nobody.\n\n// Nobody reads this.\n',
    ],
    ['bench/b.ts', '/**\n * Told, since it is\n * no crash.\n */\nexport const B = 1\n'],
    ['scripts/c.mjs', '// There is no file, it is no longer read, and `nobody` is a user.\n'],
    ['test/d.test.ts', "test.each([1])('whoever asks', () => {})\ntest(`${x} goes on`, run)\n"],
    ['src/f.ts', '// It waits in vain for somebody, and the file is none of ours.\n'],
    ['rehearse/src/e.ts', "export const E = 'Nobody knows.' // A process of its own.\n"],
  ])
  expect(avoidedInComments(tree)).toEqual([
    'src/a.ts:1 says "of now"; write: current',
    'src/a.ts:3 says "nobody"; write: name who is missing',
    'src/a.ts:5 says "Nobody"; write: name who is missing',
    'bench/b.ts:1 says "Told"; write: name who is informed, and how',
    'bench/b.ts:1 says "is no c"; write: is not a',
    'test/d.test.ts:1 says "whoever"; write: name the person or the program',
    'test/d.test.ts:2 says "goes on"; write: continue',
    'src/f.ts:1 says "somebody"; write: name the person or the program',
    'src/f.ts:1 says "in vain"; write: without effect',
    'src/f.ts:1 says "of ours"; write: name whose it is',
    'src/f.ts:1 says "is none of"; write: is not one of',
  ])
})
