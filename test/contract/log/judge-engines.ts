import { describe, expect, test } from 'vitest'
import { ENGINES, type ContractCheck, type JudgedEngine } from './stores-under-test.ts'

/** One suite for every engine: any that passes it can replace another. */
export function judgeEngines(
  what: string,
  contract: readonly ContractCheck[],
  judged: Readonly<Record<string, JudgedEngine>> = ENGINES,
): void {
  const engines = Object.entries(judged)
  describe.each(engines)(`the ${what} of %s`, (_name, { make, has }) => {
    for (const { title, needs = [], check } of contract)
      if (needs.every((one) => has.includes(one)))
        test(title, () => expect(check(make)).resolves.toBeUndefined())
  })

  test('every check judges an engine', () => {
    const unjudged = contract.filter(
      ({ needs = [] }) => !engines.some(([, { has }]) => needs.every((one) => has.includes(one))),
    )
    expect(unjudged.map(({ title }) => title)).toEqual([])
  })
}
