import { expect, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { random } from '../../support/host/random.ts'
import { killPreparing } from './ready-kill-runs.ts'

const { isConfined } = await systemSandbox().status()

test.runIf(isConfined)('a process that is killed leaves no prepared sandbox behind', async () => {
  expect(await killPreparing(3, random(1))).toEqual([])
})
