import { describe, expect, test } from 'vitest'
import { HEAD_STORE_CONTRACT } from './head-store.ts'
import { ENGINES } from './stores-under-test.ts'

describe.each(Object.entries(ENGINES))('the heads of %s', (_name, make) => {
  for (const { title, check } of HEAD_STORE_CONTRACT)
    test(title, () => expect(check(make)).resolves.toBeUndefined())
})
