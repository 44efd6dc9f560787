import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { recordsPath } from '../../../src/host/files/records.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { userMessage } from '../../support/tether/frames.ts'
import { removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { MADE, madeFiles, restoreMadeHome } from '../../support/tether/made-home.ts'
import { endOf, realInstances } from '../../support/tether/real-instances.ts'
import { value } from '../../support/log/story.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()
const canNest = status.isConfined && status.nests === true

const logsIn = async (folder: string) =>
  (await readdir(join(folder, 'sessions'))).filter((name) => name.endsWith('.ndjson')).toSorted()

test.runIf(canNest)(
  'a home of an earlier version: the conversations of its Instance continue, apart from those of the person',
  async () => {
    const root = await freshFolder()
    await restoreMadeHome(root)
    const { instances, workspace, close } = await realInstances({ root })
    const place = recordsPath({ workspace, instance: MADE.instance })
    // An image of an answer, before the agent is started.
    const image = value(await instances.image('painter', MADE.own))
    expect(image.bytes).toEqual((await madeFiles()).get('workspace/four.png'))

    for (const [name, id] of [
      ['m4', 'one'],
      ['m5', 'two'],
    ] as const) {
      value(await instances.send('painter', userMessage(name, { id }, 'What happened?')))
      expect(await endOf(instances, 'painter', name)).toMatchObject({
        type: 'assistant.done',
        payload: { status: 'completed' },
      })
    }
    // The same message again runs once, as before.
    const sent = value(
      await instances.send('painter', userMessage('m3', { id: 'one' }, 'What happened?')),
    )
    expect(sent.ingress_seq).toBeLessThan(48)
    await close()

    expect(await logsIn(place)).toEqual([MADE.one, MADE.two].map((id) => `${id}.ndjson`).toSorted())
    expect(await logsIn(join(workspace, '.hawser'))).toEqual([`${MADE.person}.ndjson`])
    const continued = await readFile(join(place, 'sessions', `${MADE.one}.ndjson`), 'utf8')
    expect(continued.match(/"type":"turn_started"/g)).toHaveLength(3)

    const hawser = (...argv: string[]) =>
      runCli({ root, env: { HAWSER_PROVIDER: 'rehearsal' } }, ...argv)
    expect((await hawser('run', 'What happened?', '--continue')).code).toBe(0)
    for (const argv of [
      [MADE.person],
      [MADE.one, '--instance', 'painter'],
      [MADE.two, '--instance', 'painter'],
    ]) {
      const verified = await hawser('log', 'verify', ...argv, '--requests', '--json')
      expect(JSON.parse(verified.stdout)).toMatchObject({ whole: true })
    }
    const swept = JSON.parse((await hawser('gc', '--json')).stdout) as object
    expect(swept).toMatchObject({ instances: [{ deleted: [] }] })
  },
)

test('an agent without a sandbox is given its records by their path', async () => {
  const { instances, workspace } = await realInstances()
  const { id } = value(
    await instances.create({ handle: 'a', workspace, isolation: 'process' }, 'operator'),
  )
  value(await instances.send('a', userMessage('m1', {}, 'What happened?')))
  expect(await endOf(instances, 'a', 'm1')).toMatchObject({ payload: { status: 'completed' } })
  expect(await logsIn(recordsPath({ workspace, instance: id }))).toHaveLength(1)
  expect(await readdir(join(workspace, '.hawser'))).toEqual(['.gitignore', 'instances'])
})
