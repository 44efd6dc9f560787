import type { ErrorKind } from '../../../src/model/errors.ts'

/** The expected result of each way to access a path; a way that is not listed is not tried. */
export interface FileCase {
  /** Number in the list of attacks of the reliability study. */
  readonly row: number
  /** `{ws}` is the workspace, `{around}` its parent folder. */
  readonly path: string
  readonly read?: Answer
  readonly write?: Answer
  readonly remove?: Answer
  readonly list?: Answer
  /** An error kind, or the resolved path. */
  readonly real?: ErrorKind | { readonly path: string }
  /** Expected results that differ for root, who can access everything. */
  readonly root?: { readonly read?: Answer; readonly list?: Answer; readonly write?: Answer }
  readonly devices?: true
}

export type Answer = ErrorKind | 'ok'

const ways = (answer: ErrorKind) => ({ read: answer, write: answer, remove: answer, list: answer })
/** As `ways`, and it has no resolved place either. */
const every = (answer: ErrorKind) => ({ ...ways(answer), real: answer })

const OUTSIDE = every('outside_workspace')
const INVALID = every('invalid_args')
const PROTECTED = every('protected_path')
/** A link at the end of a path has a place, but it is not followed. */
const LEAF = ways('not_regular_file')
/** It is not a file; `list` reports this in its own way. */
const NO_FILE = ways('not_regular_file')
const HARD = {
  read: 'permission_denied',
  write: 'permission_denied',
  remove: 'permission_denied',
  list: 'not_regular_file',
} as const
const FINE = { read: 'ok', write: 'ok', list: 'not_regular_file' } as const
const NOT_THERE = { read: 'not_found', remove: 'not_found', list: 'not_found' } as const

function rows(
  row: number,
  answers: Omit<FileCase, 'row' | 'path'>,
  ...paths: string[]
): FileCase[] {
  return paths.map((path) => ({ row, path, ...answers }))
}

export const FILE_CASES: readonly FileCase[] = [
  // Paths whose text leads outside.
  ...rows(
    1,
    OUTSIDE,
    '..',
    '../',
    '../secret.txt',
    './../secret.txt',
    '../../../../../../../../etc/passwd',
    'src/../../secret.txt',
    'src/deep/../../../secret.txt',
    'src/../../ws/README.md',
    '../ws/README.md',
    '../ws-evil/x',
    '/',
    '//',
    '/etc/passwd',
    '//etc/passwd',
    '/etc/../etc/passwd',
    '/proc/self/environ',
    '/proc/self/cwd/README.md',
    '/dev/zero',
    '/dev/stdin',
    '{around}',
    '{around}/secret.txt',
    '{ws}-evil/x',
    '{ws}/../ws-evil/x',
    '{ws}/../secret.txt',
    '{ws}/src/../../secret.txt',
    '{ws}x',
    '{around}/w',
    '~',
    '~/.ssh/id_rsa',
    './~/.bashrc',
    '{around}/home/config.json',
  ),
  // Paths that only look as if they did.
  ...rows(
    1,
    NOT_THERE,
    '..\\secret.txt',
    '...',
    '.../secret.txt',
    '%2e%2e/secret.txt',
    '..%2fsecret.txt',
    'file:///etc/passwd',
    '$HOME/.ssh/id_rsa',
    '~root/.ssh/id_rsa',
    '\u2024\u2024/secret.txt',
    '\uff0e\uff0e/secret.txt',
    'u\u0308.txt ',
  ),
  ...rows(
    1,
    FINE,
    'README.md',
    './README.md',
    'src/../README.md',
    'src//a.ts',
    'missing/../README.md',
    '{ws}/README.md',
    '{ws}//src/./a.ts',
    '/../../..{ws}/README.md',
    '-rf',
    'ü.txt',
  ),

  // A link at the end.
  ...rows(
    2,
    LEAF,
    'leaf-in',
    'leaf-out',
    'leaf-abs',
    'leaf-etc',
    'leaf-self',
    'leaf-environ',
    'leaf-zero',
    'leaf-fd',
    'leaf-hawser',
    './leaf-out',
    '{ws}/leaf-out',
    'src/../leaf-etc',
    'dir-in/up',
  ),
  ...rows(2, { read: 'not_regular_file', list: 'not_regular_file' }, 'leaf-in/', 'leaf-out/.'),

  // A link in the middle.
  ...rows(
    3,
    OUTSIDE,
    'dir-out/secret.txt',
    'dir-out/ws/README.md',
    'dir-out-dir/deep/x',
    'dir-out-abs/deep/x',
    'dir-evil/x',
    'dir-back/README.md',
    'dir-chain-out/secret.txt',
    'dir-dots-out/secret.txt',
    'dir-etc/passwd',
    'dir-root/etc/passwd',
    'dir-proc/environ',
    'dir-cwd/package.json',
    'dir-procroot/etc/passwd',
    'dir-dev/zero',
    'dir-dev/tty',
    'src/up/secret.txt',
    'dir-in/up/secret.txt',
    'src/deep/in/up/secret.txt',
    'leaf-etc/x',
    'dir-out/missing/x',
    '{ws}/dir-out/secret.txt',
  ),
  ...rows(
    3,
    FINE,
    'dir-in/a.ts',
    'dir-in-abs/a.ts',
    'dir-chain/a.ts',
    'dir-dots/a.ts',
    'dir-odd/b.ts',
    'src/deep/in/a.ts',
    'src/deep/in/deep/in/deep/b.ts',
    'dir-out/../README.md',
    'chain-39/a.ts',
  ),
  ...rows(3, ways('not_regular_file'), 'loop-a/x', 'chain-40/a.ts', 'chain-41/a.ts', 'leaf-self/x'),
  ...rows(3, ways('not_regular_file'), 'README.md/x', 'leaf-in/x', 'src/pipe/x', 'socket/x'),
  ...rows(3, { real: { path: 'src/a.ts' } }, 'dir-chain/a.ts', 'src/deep/in/a.ts', '{ws}/src/a.ts'),
  ...rows(3, { real: { path: 'src/deep/new/x' } }, 'dir-odd/new/x', 'dir-in/deep/./new//x'),
  ...rows(3, { real: { path: '.' } }, '.', './', '{ws}', 'src/..'),

  // A link that a write would follow.
  ...rows(5, { write: 'not_regular_file' }, 'leaf-new', 'leaf-out', 'leaf-zero', 'leaf-in'),
  ...rows(5, { write: 'outside_workspace' }, 'dir-out/new.txt', 'dir-out/new/deep.txt'),
  ...rows(5, { write: 'outside_workspace' }, 'dir-nowhere-out/x', 'dir-etc/cron.d/x', 'src/up/x'),
  ...rows(5, { read: 'not_found', write: 'not_found' }, 'dir-nowhere/x', 'dir-nowhere/y/x'),
  ...rows(5, { write: 'ok' }, 'dir-in/made.ts', 'dir-in/made/deep/x.ts', 'new/folders/x.ts'),

  // A second name of a file (hard link).
  ...rows(6, HARD, 'hard-out', 'hard-in', 'twin', './hard-out', '{ws}/hard-out', 'src/../hard-out'),

  // What would block, never end, or is not a file.
  ...rows(7, NO_FILE, 'pipe', 'a.png', 'src/pipe', 'dir-in/pipe', './/pipe'),
  ...rows(8, NO_FILE, 'socket', './socket'),
  ...rows(8, { ...NO_FILE, devices: true }, 'device', 'block'),
  ...rows(
    8,
    { read: 'not_regular_file', remove: 'not_regular_file', list: 'ok' },
    'src',
    'src/deep',
  ),
  ...rows(
    8,
    { read: 'not_regular_file', list: 'ok', write: 'invalid_args' },
    '.',
    'src/..',
    '{ws}',
  ),
  ...rows(8, { write: 'invalid_args', remove: 'invalid_args' }, 'src/', 'new/', 'README.md/', './'),

  // Invalid paths.
  ...rows(
    15,
    INVALID,
    '',
    '\0',
    'README.md\0',
    'README.md\0.png',
    '\0/etc/passwd',
    'src/\0/../a.ts',
  ),
  ...rows(
    15,
    INVALID,
    'x'.repeat(256),
    `src/${'ü'.repeat(128)}`,
    'a/'.repeat(2_100),
    '/'.repeat(5_000),
  ),
  ...rows(
    15,
    NOT_THERE,
    'x'.repeat(255),
    'new\nline',
    '\u202Egnp.exe',
    '\x1b[2J',
    ' ',
    '\t',
    'a:b',
    '*',
  ),

  // What would take long, or open very many files.
  ...rows(15, { read: 'not_found', write: 'ok' }, `${'d/'.repeat(128)}x`),
  ...rows(15, INVALID, `${'d/'.repeat(129)}x`, `${'d/'.repeat(140)}x`, 'dir-long/README.md'),
  ...rows(15, { write: 'invalid_args' }, `${'e/'.repeat(129)}x`),

  // Hawser's own folders, by every name.
  ...rows(
    26,
    PROTECTED,
    '.hawser',
    '.hawser/',
    '.hawser/sessions/x',
    '.hawser/new',
    '.hawser/sessions/../new',
    './/.hawser//sessions/x',
    'src/../.hawser/sessions/x',
    '{ws}/.hawser/sessions/x',
    '.HAWSER/sessions/x',
    '.Hawser',
    '.hawser./x',
    '.hawser /x',
    '.haw\u200cser/x',
    '.haw\u00adser/x',
    '.haw\u017fer/x',
    '.\uff48awser/x',
    'state',
    'state/config.json',
    'STATE/config.json',
    'State/new',
    'dir-hawser/sessions/x',
    'dir-hawser-abs/sessions/x',
    'dir-hawser/new',
    'dir-state/config.json',
    'src/to-state/config.json',
    'found-late/x',
    'found-late/sub/x',
    'dir-late/x',
    'dir-late/sub/new/x',
  ),
  ...rows(26, { list: 'protected_path' }, 'found-late', 'found-late/sub'),
  // Even before it exists.
  ...rows(
    26,
    PROTECTED,
    'not-yet',
    'not-yet/x',
    'Not-Yet/x',
    'dir-here/not-yet/x',
    'dir-here/.hawser/new',
    'src/../dir-here/NOT-YET',
  ),
  ...rows(26, { write: 'not_found', read: 'not_found' }, 'src/to-new/x'),
  // Policy must get the true name of what it asks about.
  ...rows(26, { real: { path: '.git/hooks/pre-commit' } }, 'dir-git/hooks/pre-commit'),
  ...rows(26, { real: { path: '.git/config' } }, 'src/../dir-git/./config'),
  ...rows(26, { real: { path: '.GIT/hooks/x' } }, '.GIT/hooks/x'),

  // What the system itself refuses.
  ...rows(8, { read: 'permission_denied', root: { read: 'ok' } }, 'unreadable'),
  ...rows(
    8,
    {
      read: 'permission_denied',
      list: 'permission_denied',
      root: { read: 'ok', list: 'not_regular_file' },
    },
    'closed/x',
  ),
]
