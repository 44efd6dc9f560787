/**
 * The import rules. `import type`, re-exports and dynamic imports count.
 *
 * A key is a unit: a folder of `src`, one presenter, one of the files in `src`, or a folder beside `src`.
 * A value lists folders of `src` (`log`), single files (`providers/provider.ts`), every presenter (`presenters/*`),
 * or folders beside `src` (`test/support`, or `src` for the whole of it). A unit may always import itself.
 */
export const IMPORT_TABLE: Readonly<Record<string, readonly string[]>> = {
  model: [],
  encoding: [],
  host: ['model'],
  history: ['model', 'encoding'],
  policy: ['model', 'encoding'],
  contract: ['model', 'encoding', 'history'],
  context: ['model', 'encoding', 'history'],
  log: ['model', 'encoding', 'host'],
  blobs: ['model', 'encoding', 'host'],
  resources: ['model', 'encoding', 'host', 'blobs'],
  skills: ['model', 'encoding', 'host', 'policy'],
  providers: ['model', 'encoding', 'host'],
  tools: ['model', 'encoding', 'host', 'policy', 'history', 'resources', 'blobs', 'skills'],
  request: [
    'model',
    'encoding',
    'host',
    'blobs',
    'resources',
    'history',
    'contract',
    'context',
    'providers/provider.ts',
  ],
  turn: [
    'model',
    'encoding',
    'host',
    'history',
    'policy',
    'contract',
    'context',
    'log',
    'blobs',
    'resources',
    'skills',
    'tools',
    'request',
    'providers/provider.ts',
    'providers/engine.ts',
  ],
  session: [
    'model',
    'encoding',
    'host',
    'log',
    'blobs',
    'resources',
    'history',
    'contract',
    'context',
    'policy',
    'skills',
    'request',
    'turn',
    'providers/provider.ts',
  ],
  tether: ['model', 'encoding', 'host', 'log', 'blobs', 'resources', 'session'],
  'presenters/*': ['model', 'encoding', 'host', 'history', 'session', 'tether'],
  'main.ts': ['src'],
  // All but presenters: the parts composed here serve all of them.
  'compose.ts': [
    'model',
    'encoding',
    'host',
    'log',
    'blobs',
    'resources',
    'history',
    'contract',
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
  'compose-relay.ts': ['model', 'providers', 'turn', 'session', 'tether'],
  'index.ts': ['compose.ts', 'session', 'history', 'host', 'model'],

  bin: ['main.ts'],
  test: ['src', 'test'],
  bench: ['src', 'test/support'],
  scripts: [],
}

/** What a `*.test.ts` may import beyond the row of its unit. */
export const TESTS_MAY_ALSO_IMPORT = {
  folders: ['test/support'],
  packages: ['vitest', 'fast-check'],
} as const

/** Packages that only one unit may import, so that the rest of the program cannot depend on them. */
export const PACKAGE_OWNERS: Readonly<Record<string, string>> = {
  '@agentclientprotocol/sdk': 'presenters/acp',
  '@hono/node-server': 'host',
  'fs-native-extensions': 'host',
  hono: 'presenters/http',
  sharp: 'resources',
}
