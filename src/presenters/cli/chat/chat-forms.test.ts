import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { COMMANDS } from '../command-table.ts'
import { CHAT_FORMS, inChat, nextStepsInChat } from './chat-forms.ts'

const SOURCE = new URL('../../../../src', import.meta.url).pathname

test('every command of the shell has a form in the chat, or is listed as having none', () => {
  const undecided = COMMANDS.filter(({ name }) => !Object.hasOwn(CHAT_FORMS, name))
  expect(undecided.map(({ name }) => name)).toEqual([])
})

test.each([
  ['It is used as named. (hawser models)', 'It is used as named. (/model)'],
  ['To trust it: hawser skills trust review', 'To trust it: /skills trust review'],
  ['List the Skills. hawser skills', 'List the Skills. /skills'],
  ['hawser compact ses_01kg8m2q --dry-run --json', '/compact dry-run'],
  ['hawser compact ses_01kg8m2q', '/compact'],
  ['hawser resources ses_01kg8m2q drop @img1', '/resources drop @img1'],
  ['hawser resources latest', '/resources'],
  ['hawser undo ses_01kg8m2q 3', '/undo 3'],
  ['hawser log verify ses_01kg8m2q --requests', '/verify'],
  ['the output of `hawser log verify` for Event 3', 'the output of `/verify` for Event 3'],
  ['hawser log show ses_01kg8m2q', 'Ctrl-O'],
  ['hawser run --session ses_1 --model gpt-6 "Continue."', '/model gpt-6, then send: Continue.'],
  ['hawser run --provider rehearsal "Hello"', '/model rehearsal rehearsal'],
  [
    'Start a new Session (hawser, or hawser run without --continue) and ask.',
    'Start a new Session (/new) and ask.',
  ],
  ['Compact it (in a chat: /compact). hawser compact ses_1', 'Compact it. /compact'],
  ['hawser models; hawser skills', '/model; /skills'],
])('%j is %j in a chat', (text, shown) => {
  expect(inChat(text)).toBe(shown)
})

test.each([
  'To set it: hawser config set models.m.window_tokens 9',
  'hawser doctor',
  'hawser log salvage ses_01kg8m2q',
  'hawser trust --instructions',
  'hawser sessions delete ses_01kg8m2q',
  'hawser run "What is in this folder?"',
  'hawser skills check a',
  'a file named hawser models.txt-like'.replace(' models', ''),
])('%j has no form in a chat and stays', (text) => {
  expect(inChat(text)).toBe(text)
})

test('options of the shell are no next step in a chat', () => {
  const steps = nextStepsInChat([
    { action: 'Use it with its own provider:', command: '--provider a --model b' },
    { action: 'In a chat:', command: '/model a b' },
    { action: 'List the models.', command: 'hawser models' },
    { action: 'Wait.' },
  ])
  expect(steps).toEqual(['/model a b', 'List the models. /model', 'Wait.'])
})

test('no text of the source that reaches a chat names a shell command that has a form there', () => {
  const texts = LAYERS.flatMap((layer) => sourcesIn(join(SOURCE, layer))).flatMap(literals)
  expect(texts.length).toBeGreaterThan(50)
  const named = texts.flatMap((text) => {
    const left = [...inChat(text).matchAll(LEFT)].map(([found]) => found)
    return left.map((found) => [found, text])
  })
  expect(named).toEqual([])
})

/** What writes notices and errors that a chat shows. */
const LAYERS = [
  'session',
  'turn',
  'tools',
  'skills',
  'providers',
  'context',
  'history',
  'blobs',
  'log',
]

/** Commands whose every form exists in the chat. */
const LEFT =
  /hawser (?:models|usage|compact|pin|resources|undo|diff|cache explain|log (?:verify|show|export)|skills(?! check)|permissions)(?![\w-]| (?:allow|deny|untrust|check))/g

function sourcesIn(path: string): string[] {
  if (statSync(path).isFile())
    return path.endsWith('.ts') && !path.endsWith('.test.ts') ? [path] : []
  return readdirSync(path).flatMap((name) => sourcesIn(join(path, name)))
}

/** The literals of a file that name a command, their expressions as the values that they have. */
function literals(path: string): string[] {
  const text = readFileSync(path, 'utf8')
  return [
    ...text.matchAll(/(['`])((?:(?!\1)[^\\\n]|\\.)*hawser [a-z](?:(?!\1)[^\\\n]|\\.)*)\1/g),
  ].map(([, , literal = '']) =>
    literal
      .replaceAll(/\$\{(?:ses\w*\.?\w*|id|log\.session)\}/g, 'ses_01')
      .replaceAll(/\$\{handle\}/g, '@img1')
      .replaceAll(/\$\{number\}/g, '3')
      .replaceAll(/\$\{[^}]*\}/g, 'name'),
  )
}
