/**
 * The import rules. `import type`, re-exports and dynamic imports count.
 *
 * A key is a unit: a folder of `src`, one presenter, one of the files in `src`, or a folder beside `src`. The program
 * imports the folder `rehearse` only by the name of its package.
 * A value lists folders of `src` (`log`, `prompt/words`), single files (`providers/provider.ts`), every presenter
 * (`presenters/*`), or folders beside `src` (`test/support`, or `src` for the whole of it). A unit may always import
 * itself. `src/README.md` repeats the rows of `src` for readers.
 */
export const IMPORT_TABLE: Readonly<Record<string, readonly string[]>> = {
  model: [],
  encoding: [],
  host: ['model'],
  // Not History, which imports the words: so does every layer that writes part of a request.
  prompt: ['model', 'encoding'],
  history: ['model', 'encoding', 'prompt/words'],
  policy: ['model', 'encoding'],
  context: ['model', 'encoding', 'prompt/words', 'history'],
  log: ['model', 'encoding', 'host'],
  blobs: ['model', 'encoding', 'host'],
  resources: ['model', 'encoding', 'prompt/words', 'host', 'blobs'],
  skills: ['model', 'encoding', 'host', 'policy'],
  providers: ['model', 'encoding', 'prompt/words', 'host'],
  tools: [
    'model',
    'encoding',
    'prompt/words',
    'host',
    'policy',
    'history',
    'resources',
    'blobs',
    'skills',
  ],
  request: [
    'model',
    'encoding',
    'prompt',
    'host',
    'blobs',
    'resources',
    'history',
    'context',
    'providers/provider.ts',
  ],
  turn: [
    'model',
    'encoding',
    'prompt/words',
    'host',
    'history',
    'policy',
    'context',
    'log',
    'blobs',
    'resources',
    'skills',
    'tools',
    'request',
    'providers/provider.ts',
  ],
  session: [
    'model',
    'encoding',
    'prompt',
    'host',
    'log',
    'blobs',
    'resources',
    'history',
    'context',
    'policy',
    'skills',
    'request',
    'turn',
    'providers/provider.ts',
  ],
  tether: ['model', 'encoding', 'host', 'log', 'blobs', 'resources', 'session'],
  'presenters/*': ['model', 'encoding', 'prompt/words', 'host', 'history', 'session', 'tether'],
  'main.ts': ['src'],
  // All but presenters: the parts composed here serve all of them.
  compose: [
    'model',
    'encoding',
    'prompt',
    'host',
    'log',
    'blobs',
    'resources',
    'history',
    'context',
    'policy',
    'skills',
    'providers',
    'tools',
    'request',
    'turn',
    'session',
    'tether',
  ],
  'index.ts': [
    'compose/content-blocks.ts',
    'compose/workspace.ts',
    'session',
    'history',
    'host',
    'model',
  ],

  // The clock is an argument of the server, and waiting needs it.
  rehearse: [
    'model',
    'encoding',
    'prompt/words',
    'host/net',
    'host/clock.ts',
    'host/wait.ts',
    'providers/rehearsal',
  ],
  // The browser is a presenter: it folds the same Events with the same pure code, and does everything else over HTTP.
  web: ['model', 'encoding', 'prompt/words', 'history'],
  bin: ['main.ts'],
  test: ['src', 'rehearse', 'test'],
  bench: ['src', 'rehearse', 'test/support'],
  scripts: [],
}

/** What a `*.test.ts` may import beyond the row of its unit. */
export const TESTS_MAY_ALSO_IMPORT = {
  folders: ['test/support'],
  packages: ['vitest', 'fast-check'],
} as const

/** Packages that only one folder of `src` may import, so that the rest of the program cannot depend on them. */
export const PACKAGE_OWNERS: Readonly<Record<string, string>> = {
  '@agentclientprotocol/sdk': 'presenters/acp',
  '@hono/node-server': 'host',
  '@modelcontextprotocol/server': 'presenters/mcp',
  diff: 'encoding',
  'fs-native-extensions': 'host',
  'hawser-rehearse': 'compose/rehearsal.ts',
  grammy: 'presenters/telegram',
  hono: 'presenters/http',
  marked: 'encoding/markdown',
  'highlight.js': 'presenters/cli/text',
  sharp: 'resources',
}

/**
 * Implementations of ports (ADR 32), and the only folders that may import them. Everything else receives stores from `compose`.
 * Records of guests in files consist of Logs and blobs in files.
 */
export const PORT_IMPLEMENTATIONS: Readonly<Record<string, readonly string[]>> = {
  'log/files/': ['compose/', 'tether/records/files/'],
  'blobs/workspace-store.ts': ['compose/', 'tether/records/files/'],
  'tether/frames/files/': ['compose/'],
  'tether/records/files/': ['compose/'],
}
