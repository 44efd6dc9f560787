import { test } from 'vitest'
import { DIALECT_NAMES } from '../../test/support/providers/dialects.ts'
import { expectGrownAsFromScratch } from '../../test/support/history/grown-requests.ts'

test.each(DIALECT_NAMES)(
  'requests in %s that grow with their Log equal those composed from scratch, byte for byte, in many Logs',
  (dialect) => expectGrownAsFromScratch(dialect, 40),
)
