import { describe, expect, test } from 'vitest'
import { HIDDEN_LOG } from './hidden-log.ts'
import { LOG_STORE_CONTRACT } from './log-store.ts'
import { ENGINES } from './stores-under-test.ts'

// One suite for every engine: any that passes it can replace another.
describe.each(Object.entries(ENGINES))('the Logs of %s', (_name, make) => {
  for (const { title, check } of [...LOG_STORE_CONTRACT, HIDDEN_LOG])
    test(title, () => expect(check(make)).resolves.toBeUndefined())
})
