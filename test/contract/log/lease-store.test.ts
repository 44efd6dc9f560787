import { describe, expect, test } from 'vitest'
import { LEASE_STORE_CONTRACT } from './lease-store.ts'
import { ENGINES } from './stores-under-test.ts'

describe.each(Object.entries(ENGINES))('the leases of %s', (_name, make) => {
  for (const { title, check } of LEASE_STORE_CONTRACT)
    test(title, () => expect(check(make)).resolves.toBeUndefined())
})
