import { expect, test } from 'vitest'
import { harnessPlace } from '../../../test/support/session/harness-place.ts'
import { surfaceParams } from './surface-params.ts'

const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const

test('[SR-025] attached bytes are not shown on later Turns unless a setting requests it', async () => {
  const { model } = (await harnessPlace()).parts
  expect(surfaceParams(model, REHEARSAL).replay).toBe('attach-turn')
  const kept = surfaceParams({ ...model, replay: 'window' }, REHEARSAL)
  expect(kept.replay).toBe('window')
})
