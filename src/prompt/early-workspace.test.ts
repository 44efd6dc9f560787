import { expect, test } from 'vitest'
import { LIMITS } from '../model/limits.ts'
import { SessionId } from '../model/ids.ts'
import { cacheKey } from './cache-key.ts'
import { earlyWorkspace } from './early-workspace.ts'
import { LAYER_0 } from './words/layer0.ts'
import { CONTRACT_VERSION } from './words/version.ts'
import { freezeSurface } from './surface.ts'

const PARTS = {
  model: 'model',
  tools: [],
  skillsIndex: 'Skills',
  params: { replay: 'attach-turn', late_role: 'user', tool_choice: 'auto', limits: {} },
} as const

test('the compared contract is this one with the path moved to the front, under its own version', () => {
  const contract = earlyWorkspace('/a "b"')
  const [ours, early] = [freezeSurface(PARTS), freezeSurface({ ...PARTS, contract })]
  expect(early.surface).toEqual({
    ...ours.surface,
    contract_version: `${CONTRACT_VERSION}-early`,
    system: [`Your workspace is "/a \\"b\\"".\n\n${LAYER_0}`, 'Skills'],
  })
  const { surface: _ours, bytes: _bytes, layer0_sha256, ...rest } = ours
  expect(early).toMatchObject(rest)
  expect(early.layer0_sha256).not.toBe(layer0_sha256)
})

test('the version of the compared contract keeps the cache key within its limit', () => {
  const key = cacheKey({
    contract_version: earlyWorkspace('/a').version,
    model: 'model',
    mode: 'build',
    root_session_id: SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12'),
    toolset_sha256: '',
    skills_sha256: '',
  })
  expect(Buffer.byteLength(key)).toBeLessThanOrEqual(LIMITS.cache_key_bytes)
})
