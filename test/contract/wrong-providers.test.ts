import { describe, expect, test } from 'vitest'
import { PROVIDER_KINDS } from './provider-kinds.ts'
import { providerContract, type ProviderKind } from './provider.ts'
import { withBug, WRONG_PROVIDERS, type WrongProvider } from './wrong-providers.ts'

// Every provider passes the contract; these tests show that it can fail, on each provider with a planted bug.
describe.each(PROVIDER_KINDS)('$name', (kind) => {
  const bugs = WRONG_PROVIDERS.filter(({ wire }) => wire !== true || kind.troubled !== undefined)
  test.each(bugs)('a provider that $bug is found', async (wrong) => {
    const checks = checksFor(kind, wrong)
    expect(checks.length).toBe(wrong.foundBy.length)
    for (const { title, check } of checks) {
      await expect(check(), `"${title}" passes`).rejects.toThrow()
    }
  })
})

/** The checks that must find a bug, on a provider that has it. */
function checksFor(kind: ProviderKind, wrong: WrongProvider) {
  const checks: { readonly title: string; readonly check: () => Promise<void> }[] = []
  providerContract(withBug(kind, wrong), (title, check) => {
    if (wrong.foundBy.some((begin) => title.startsWith(begin))) checks.push({ title, check })
  })
  return checks
}
