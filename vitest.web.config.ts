import { defineConfig, mergeConfig } from 'vitest/config'
import quick from './vitest.config.ts'

/** `npm run test:web`: the built app in a real browser, one file after another. */
export default mergeConfig(
  { ...quick, test: { ...quick.test, include: [], exclude: [] } },
  defineConfig({
    test: {
      include: ['test/web/*.web.ts'],
      exclude: ['node_modules/**', 'dist/**'],
      maxWorkers: 1,
      testTimeout: 180_000,
      hookTimeout: 60_000,
    },
  }),
)
