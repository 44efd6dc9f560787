import { afterAll, expect, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { daemonOffences } from './daemon-kill-judge.ts'
import { PLANTED } from './daemon-kill-planted.ts'
import { runDaemonKills } from './daemon-kill-runs.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()

/** `npm run test:faults -- daemon-kill` kills 200 servers and 200 guests. */
test.runIf(status.isConfined && status.nests === true)(
  'four pollers see every frame once and in order, and messages run once, whether the server or its guest is killed',
  async () => {
    const folder = await freshFolder()
    const [server, guest] = await Promise.all([
      runDaemonKills(folder, 'server', 2, 3),
      runDaemonKills(folder, 'guest', 2, 5),
    ])
    expect([...server.violations, ...guest.violations]).toEqual([])
    for (const [name, [offence, plant]] of Object.entries(PLANTED))
      expect([name, daemonOffences(plant(server.evidence))]).toEqual([
        name,
        expect.arrayContaining([expect.stringMatching(offence)]),
      ])
  },
)
