import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { ok } from '../../model/errors.ts'
import { runHydrationCommand } from './run-command.ts'

test('listing the settings of git counts towards the time limit of a source', async () => {
  const limits: number[] = []
  const made = await runHydrationCommand(['git', 'status'], 1_000, {
    files: { root: await freshFolder() },
    signal: new AbortController().signal,
    runReadOnly: async ({ wallMs }) => {
      limits.push(wallMs)
      return ok({
        code: 0,
        signal: null,
        timedOut: false,
        wasInterrupted: false,
        durationMs: 400,
        appearedPaths: [],
        runsLater: [],
      })
    },
  })
  expect([made.status, limits]).toEqual(['ok', [1_000, 600]])
})
