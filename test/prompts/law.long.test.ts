import { expect, test } from 'vitest'
import { DIALECT_NAMES } from '../support/providers/dialects.ts'
import { judgeLaw } from './law.ts'

test.each(DIALECT_NAMES)(
  '[PC-005] [PC-025] in %s a request begins with the whole previous one, or breaks where and why Events predict, for every cause',
  async (dialect) => {
    const { causes, wrong, pairs } = await judgeLaw(400, dialect)
    expect(wrong).toEqual([])
    expect((causes['unbroken'] ?? 0) / pairs).toBeGreaterThanOrEqual(0.3)
    const rare = [
      'model',
      'params',
      'surface',
      'checkpoint',
      'undo',
      'transient_retired',
      'quarantine',
      'drop',
      'payload_missing',
    ]
    expect(rare.filter((cause) => (causes[cause] ?? 0) < 20)).toEqual([])
  },
)

test.each(DIALECT_NAMES)(
  'in %s the law holds for Turns that only ask for a summary, whether a checkpoint follows or not, in many Logs',
  async (dialect) => {
    const { wrong, causes } = await judgeLaw(60, dialect, {}, true)
    expect(wrong).toEqual([])
    expect(causes['transient_retired']).toBeGreaterThan(60)
    expect(causes['checkpoint']).toBeGreaterThan(10)
  },
)
