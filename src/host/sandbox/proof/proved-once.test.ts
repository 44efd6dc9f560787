import { expect, test } from 'vitest'
import type { BubblewrapSearch } from './find-bubblewrap.ts'
import { provedOnce } from './proved-once.ts'

const FAILED: BubblewrapSearch = { bubblewrap: undefined, why: 'bubblewrap is not installed' }
const PASSED: BubblewrapSearch = {
  bubblewrap: {
    program: '/usr/bin/bwrap',
    disablesNamespaces: true,
    proc: 'own',
    machine: 'x64',
  },
  by: 'bubblewrap 0.8.0',
  nests: async () => true,
}

/** Searches with these results, one after another. */
function searching(...results: readonly BubblewrapSearch[]) {
  let count = 0
  const search = provedOnce(async () => results[count++] ?? FAILED)
  return { search, count: () => count }
}

test('a self-test that passed is not repeated, also if several callers wait for it', async () => {
  const { search, count } = searching(PASSED)
  expect(await Promise.all([search(), search()])).toEqual([PASSED, PASSED])
  expect(await search()).toBe(PASSED)
  expect(count()).toBe(1)
})

test('a self-test that failed is repeated by the next caller', async () => {
  const { search, count } = searching(FAILED, PASSED)
  expect(await search()).toBe(FAILED)
  expect(await search()).toBe(PASSED)
  expect(count()).toBe(2)
})

test('a self-test that threw is repeated by the next caller', async () => {
  let broken = true
  const search = provedOnce(async () => {
    if (broken) throw new Error('broken')
    return PASSED
  })
  await expect(search()).rejects.toThrow('broken')
  broken = false
  expect(await search()).toBe(PASSED)
})
