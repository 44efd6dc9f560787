import { describe, expect, test } from 'vitest'
import { GUEST_RECORDS_CASES } from './cases.ts'
import { memoryRecords, realRecords } from './stores.ts'

describe('the records of guests in files', () => {
  test.each(GUEST_RECORDS_CASES)('$title', async ({ run }) => {
    const under = await realRecords()
    await expect(run(under)).resolves.toBeUndefined()
    await under.close()
  })
})

describe('the records of guests in memory', () => {
  test.each(GUEST_RECORDS_CASES.filter(({ links }) => links !== true))(
    '$title',
    async ({ run }) => {
      await expect(run(await memoryRecords())).resolves.toBeUndefined()
    },
  )
})
