import { expect, test } from 'vitest'
import { SKILL_TOOLS, TOOLSET } from '../../src/tools/toolset.ts'
import { toolContract, type ToolSample } from './tool.ts'

const long = Array.from({ length: 2_000 }, (_, i) => `line ${i} of a long file`).join('\n')
const files = {
  'notes.txt': 'one\ntwo\nthree\n',
  'long.txt': long,
  'twice.txt': 'same\nsame\n',
  '.hawser/own': 'not for a model\n',
  'picture.png': Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1'),
  ...Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`many/${'file'.repeat(20)}-${i}.txt`, 'x\n']),
  ),
}
const REFUSED_PATHS = [
  ['', 'invalid_args'],
  ['a\0b', 'invalid_args'],
  ['../x', 'outside_workspace'],
  ['/etc/passwd', 'outside_workspace'],
  ['.hawser/x', 'protected_path'],
  ['notes.txt/x', 'not_regular_file'],
] as const
const refusedPaths = (rest: Readonly<Record<string, unknown>>) =>
  REFUSED_PATHS.map(([path, kind]) => [{ path, ...rest }, kind] as const)

const TWO = { old_text: 'two', new_text: 'TWO' }

/** One per tool; a tool without one fails the test below. */
const SAMPLES: Readonly<Record<string, ToolSample>> = {
  attach: {
    files,
    good: { path: 'notes.txt', title: 'Notes' },
    keeps: true,
    refused: [
      ...REFUSED_PATHS.map(([path]) => [{ path }, 'attachments_failed'] as const),
      [{ path: 'missing.txt' }, 'attachments_failed'],
      [{ path: 'picture.png' }, 'attachments_failed'],
    ],
  },
  bash: {
    files,
    good: { command: 'cat notes.txt', folder: '.' },
    long: { command: 'cat long.txt' },
    // Its limit applies to the output of the command.
    refused: [
      [{ command: 'true', folder: '../x' }, 'outside_workspace'],
      [{ command: 'true', folder: '/' }, 'outside_workspace'],
      [{ command: 'true', folder: '.hawser' }, 'protected_path'],
      [{ command: 'true', folder: 'missing' }, 'not_found'],
      [{ command: 'sleep 60', timeout_ms: 50 }, 'timeout'],
    ],
  },
  edit: {
    files,
    good: { path: 'notes.txt', edits: [{ old_text: 'two', new_text: 'TWO' }] },
    longDiff: {
      path: 'long.txt',
      edits: [{ old_text: 'line', new_text: 'row', replace_all: true }],
    },
    refused: [
      ...refusedPaths({ edits: [{ old_text: 'a', new_text: 'b' }] }),
      [{ path: 'missing.txt', edits: [{ old_text: 'a', new_text: 'b' }] }, 'not_found'],
      [{ path: 'many', edits: [{ old_text: 'a', new_text: 'b' }] }, 'not_regular_file'],
      [{ path: 'notes.txt', edits: [{ old_text: 'four', new_text: 'b' }] }, 'no_match'],
      [{ path: 'twice.txt', edits: [{ old_text: 'same', new_text: 'b' }] }, 'not_unique'],
      [{ path: 'notes.txt', edits: [TWO, { old_text: 'four', new_text: 'b' }] }, 'no_match'],
      [{ path: 'notes.txt', edits: [TWO, TWO] }, 'invalid_args'],
    ],
  },
  glob: {
    files,
    good: { pattern: '*.txt', path: '.' },
    long: { pattern: 'many/**' },
    refused: [
      ...refusedPaths({ pattern: '*' }),
      [{ pattern: '{a,b}'.repeat(20) }, 'invalid_args'],
      [{ pattern: '*', path: 'missing' }, 'not_found'],
    ],
  },
  grep: {
    files,
    good: { pattern: 't[wh]', path: 'notes.txt' },
    long: { pattern: 'line' },
    refused: [
      ...refusedPaths({ pattern: 'x' }),
      [{ pattern: '(' }, 'invalid_args'],
      [{ pattern: 'x', path: 'missing' }, 'not_found'],
    ],
  },
  history_search: {
    good: { query: 'line 7', turn: 1 },
    long: { query: 'line', limit: 100 },
    refused: [
      [{}, 'invalid_args'],
      [{ query: '(', regex: true }, 'invalid_args'],
      [{ query: 'line', turn: 9 }, 'invalid_args'],
      [{ seq: 9 }, 'not_found'],
      [{ seq: 1, offset: 1_000_000 }, 'invalid_args'],
    ],
  },
  read: {
    files,
    good: { path: 'notes.txt', from_line: 2 },
    long: { path: 'long.txt' },
    refused: [
      ...refusedPaths({}),
      [{ path: 'missing.txt' }, 'not_found'],
      [{ path: 'picture.png' }, 'attachments_failed'],
      [{ path: 'notes.txt', from_line: 4 }, 'invalid_args'],
    ],
  },
  resource_view: {
    files,
    good: { handle: '@txt1', reason: 'to quote it', lines: { from: 2, to: 3 } },
    keeps: true,
    refused: [
      [{ handle: '@txt9', reason: 'r' }, 'not_found'],
      [{ handle: '@link2', reason: 'r' }, 'unsupported_type'],
      [{ handle: '@txt1', reason: 'r', lines: { from: 3, to: 9 } }, 'invalid_args'],
      [{ handle: '@txt1', reason: 'r', pages: { from: 1, to: 1 } }, 'invalid_args'],
    ],
  },
  hydrate_context: {
    good: { skill: 'review', context_source_id: 'diff' },
    dictionary: 'args',
    refused: [
      [{ skill: 'other', context_source_id: 'diff' }, 'invalid_args'],
      [{ skill: 'review', context_source_id: 'other' }, 'invalid_args'],
    ],
  },
  skill_view: {
    files,
    good: { name: 'review' },
    long: { name: 'long' },
    refused: [
      [{ name: 'other' }, 'not_found'],
      ...refusedPaths({ name: 'review' }),
      [{ name: 'review', path: 'picture.png' }, 'unsupported_type'],
    ],
  },
  update_plan: {
    good: { entries: [{ content: 'Moor the ship', status: 'in_progress', priority: 'high' }] },
    refused: [],
  },
  write: {
    files,
    good: { path: 'new/file.txt', content: 'hello\n' },
    longDiff: { path: 'long.txt', content: 'short\n' },
    refused: [
      ...refusedPaths({ content: 'x' }),
      [{ path: 'many', content: 'x' }, 'not_regular_file'],
      [{ path: 'notes.txt', content: 'x'.repeat(10 * 1024 * 1024 + 1) }, 'too_large'],
    ],
  },
}

test('there is a sample for every tool', () => {
  const names = [...TOOLSET, ...SKILL_TOOLS].map(({ name }) => name)
  expect(Object.keys(SAMPLES).toSorted()).toEqual(names.toSorted())
})

for (const tool of [...TOOLSET, ...SKILL_TOOLS]) {
  const sample = SAMPLES[tool.name]
  if (sample !== undefined) toolContract(tool, sample)
}
