import { expect, test } from 'vitest'
import { exitStatus } from './exit-status.ts'

const RESULT = { call_id: 'c1', name: 'bash', output: '', duration_ms: 1 }

test('a command that exits with a code other than 0 failed', () => {
  expect(exitStatus({ ...RESULT, outcome: 'failed', exit_code: 2 })).toEqual({
    outcome: 'failed',
    failure: 'exit code 2',
  })
  expect(exitStatus({ ...RESULT, outcome: 'ok', exit_code: 0 })).toEqual({ outcome: 'ok' })
})

test('older Logs have the code in the last line of the output', () => {
  const output = 'no such file\n[exit code 1]\n'
  expect(exitStatus({ ...RESULT, outcome: 'ok', output })).toEqual({
    outcome: 'failed',
    failure: 'exit code 1',
  })
  expect(exitStatus({ ...RESULT, name: 'read', outcome: 'ok', output })).toEqual({ outcome: 'ok' })
})
