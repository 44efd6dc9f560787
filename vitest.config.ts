import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import manifest from './package.json' with { type: 'json' }
import { SlowestFirst } from './test/support/slowest-first.ts'

/** `npm test`. What takes long is a `*.long.test.ts`, which `npm run test:long` runs (vitest.long.config.ts). */
export default defineConfig({
  define: { HAWSER_VERSION: JSON.stringify(manifest.version) },
  // The source, so that nothing has to be built first.
  resolve: {
    alias: {
      'hawser-rehearse': fileURLToPath(new URL('rehearse/src/rehearse.ts', import.meta.url)),
    },
  },
  test: {
    include: ['src/**/*.test.ts', 'rehearse/src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['node_modules/**', 'dist/**', 'web/**', '**/*.long.test.ts'],
    globalSetup: ['test/support/test-root.ts'],
    pool: 'forks',
    // Loading modules again for every file took a third of the run. Tests share no state: each makes its own folders.
    isolate: false,
    maxWorkers: 2,
    sequence: { sequencer: SlowestFirst },
    execArgv: ['--unhandled-rejections=strict'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // The default of one second fails on a busy machine: the limit of the test decides.
    expect: { poll: { timeout: 55_000 } },
  },
})
