import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig, mergeConfig } from 'vitest/config'
import quick from './vitest.config.ts'

/** Journeys that run once for every way to reach a model: here in the ways that `npm test` leaves out. */
const byWays = readdirSync('test/journeys', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/journeys/${name}`)
  .filter((path) => /\b(?:PRESSED_)?WAYS\b/.test(readFileSync(path, 'utf8')))

/** `npm run test:long`. */
export default mergeConfig(
  { ...quick, test: { ...quick.test, include: [], exclude: [] } },
  defineConfig({
    test: {
      include: [
        'src/**/*.long.test.ts',
        'rehearse/src/**/*.long.test.ts',
        'test/**/*.long.test.ts',
        ...byWays,
      ],
      exclude: ['node_modules/**', 'dist/**', 'web/**'],
      env: { HAWSER_TEST_SIZE: 'long' },
      testTimeout: 300_000,
      hookTimeout: 120_000,
    },
  }),
)
