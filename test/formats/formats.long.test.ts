import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { systemSandbox } from '../../src/host/sandbox/sandbox.ts'
import { removeGuestProgram } from '../support/cli/guest-bundle.ts'
import { runCli } from '../support/cli/cli.ts'
import { freshFolder } from '../support/host/folder.ts'
import { restoreHome } from '../support/log/stored-home.ts'
import { value } from '../support/log/story.ts'
import { userMessage } from '../support/tether/frames.ts'
import { endOf, realInstances } from '../support/tether/real-instances.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()
const canNest = status.isConfined && status.nests === true
const Listed = z.object({ sessions: z.array(z.object({ session_id: z.string() })) })

// The one of shared-records continues in test/journeys/tether/shared-records.long.test.ts.
test.runIf(canNest)('the Instance of sessions-and-instances continues', async () => {
  const root = await freshFolder()
  await restoreHome('sessions-and-instances', root)
  const { instances, close } = await realInstances({ root })
  const before = value(await instances.poll('painter', { after_seq: 0 }, { waitMs: 0 })).frames
  expect(before.filter(({ type }) => type === 'assistant.done')).toHaveLength(2)
  for (const id of ['default', 'two']) {
    value(await instances.send('painter', userMessage(`later-${id}`, { id }, 'What happened?')))
    expect(await endOf(instances, 'painter', `later-${id}`)).toMatchObject({
      type: 'assistant.done',
      payload: { status: 'completed' },
    })
  }
  await close()

  const hawser = (...argv: readonly string[]) =>
    runCli(
      { root, env: { HAWSER_PROVIDER: 'rehearsal' } },
      ...argv,
      '--instance',
      'painter',
      '--json',
    )
  const { sessions } = Listed.parse(JSON.parse((await hawser('sessions')).stdout))
  expect(sessions).toHaveLength(2)
  for (const { session_id } of sessions) {
    const verified = await hawser('log', 'verify', session_id, '--requests')
    expect(JSON.parse(verified.stdout)).toMatchObject({ whole: true })
    expect((await hawser('log', 'export', session_id)).code).toBe(0)
  }
})
