import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { SessionId } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import { cacheKey, type CacheFamily } from './cache-key.ts'

const FAMILY: CacheFamily = {
  contract_version: 'hw1',
  model: 'model-a',
  mode: 'build',
  root_session_id: SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12'),
  toolset_sha256: 'a'.repeat(64),
  skills_sha256: 'b'.repeat(64),
}

test('[PC-034] [PC-076] a key has the documented format, begins with the contract and is short', () => {
  const key = cacheKey(FAMILY)
  expect(key).toMatch(/^hw1:m_[0-9a-f]{16}:r_build:s_[0-9a-f]{16}:t_[0-9a-f]{16}:k_[0-9a-f]{16}$/)
  expect(Buffer.byteLength(key)).toBeLessThanOrEqual(LIMITS.cache_key_bytes)
  expect(cacheKey({ ...FAMILY, contract_version: 'hw2' })).toBe(key.replace('hw1', 'hw2'))
})

test.each([
  ['m_', { model: 'model-b' }],
  ['r_', { mode: 'plan' }],
  ['s_', { root_session_id: SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z13') }],
  ['t_', { toolset_sha256: 'c'.repeat(64) }],
  ['k_', { skills_sha256: 'c'.repeat(64) }],
] as const)('[PC-033] [PC-036] only the part %s changes with its input', (part, change) => {
  const [one, two] = [FAMILY, { ...FAMILY, ...change }].map((family) => cacheKey(family).split(':'))
  const different = (one ?? []).filter((piece, at) => piece !== two?.[at])
  expect(different.map((piece) => piece.slice(0, 2))).toEqual([part])
})

test('[PC-076] a key reveals nothing that a person wrote, however long it is', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 4, maxLength: 2_000 }), (model) => {
      const key = cacheKey({ ...FAMILY, model })
      expect(Buffer.byteLength(key)).toBeLessThanOrEqual(LIMITS.cache_key_bytes)
      expect(key.replace(/m_[0-9a-f]{16}/, '')).toBe(cacheKey(FAMILY).replace(/m_[0-9a-f]{16}/, ''))
    }),
  )
})
