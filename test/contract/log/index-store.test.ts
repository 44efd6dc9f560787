import { describe, expect, test } from 'vitest'
import { INDEX_STORE_CONTRACT } from './index-store.ts'
import { ENGINES } from './stores-under-test.ts'

describe.each(Object.entries(ENGINES))('the indexes of %s', (_name, make) => {
  for (const { title, check } of INDEX_STORE_CONTRACT)
    test(title, () => expect(check(make)).resolves.toBeUndefined())
})
