import { expect, test } from 'vitest'
import { installedRehearse } from './rehearsal.ts'

const rejecting = (code: string) => () =>
  Promise.reject(Object.assign(new Error('Cannot find it'), { code }))

test('without the package hawser-rehearse, one error names it and how to get it', async () => {
  expect(await installedRehearse(rejecting('ERR_MODULE_NOT_FOUND'))).toMatchObject({
    ok: false,
    error: {
      kind: 'not_configured',
      message: expect.stringMatching(
        /hawser-rehearse, which is not installed\. .* npm pack --workspace rehearse$/,
      ) as unknown,
      details: { package: 'hawser-rehearse' },
      next_actions: [{ command: 'npm install PATH/hawser-rehearse-VERSION.tgz' }],
    },
  })
})

test('a package that is installed and fails to load is a defect', async () => {
  await expect(installedRehearse(rejecting('ERR_INVALID_ARG_TYPE'))).rejects.toThrow(
    'Cannot find it',
  )
})

test('the package is found by its name', async () => {
  const installed = await installedRehearse()
  expect(installed.ok && Object.keys(installed.value)).toEqual(['serveRehearsal'])
})
