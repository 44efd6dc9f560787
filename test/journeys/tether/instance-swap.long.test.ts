import { mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { message } from '../../support/tether/instances-place.ts'
import { endOf, realInstances } from '../../support/tether/real-instances.ts'
import { value } from '../../support/log/story.ts'

afterAll(removeGuestProgram)

const sandbox = systemSandbox()
const status = await sandbox.status()
const canNest = status.isConfined && status.nests === true

test.runIf(canNest)(
  'a command in a parent folder cannot move an Instance to another folder',
  async () => {
    const first = await realInstances()
    const { root, home, workspace: parent, instances } = first
    const [sub, target] = [join(parent, 'sub'), join(root, 'target')]
    for (const folder of [sub, target]) await mkdir(folder)
    value(await instances.create({ handle: 'a', workspace: sub }, 'operator'))
    const write = (name: string) => ({ text: `Run \`echo calm > ${name}\`` })
    value(await instances.send('a', message('m1', write('one.txt'))))
    expect(await endOf(instances, 'a', 'm1')).toMatchObject({ payload: { status: 'completed' } })
    const run = (script: string) =>
      sandbox.runConfined({ workspace: parent, home, writable: 'workspace', protectedPaths: [] })({
        argv: ['/bin/sh', '-c', script],
        wallMs: 60_000,
        signal: new AbortController().signal,
        onOutput: () => {},
      })
    // The folder with the records of the Instance is held in place.
    expect(value(await run(`mv sub sub.old && ln -s ${target} sub`)).code).not.toBe(0)
    // Another program does what the command could not.
    await rename(sub, `${sub}.old`)
    await symlink(target, sub)
    const refused = {
      error: { kind: 'wake_failed', details: { reason: 'outside_workspace' } },
    }
    // The agent still runs, in the folder that it was started in.
    expect(await instances.send('a', message('m2', write('two.txt')))).toMatchObject(refused)
    await instances.act('a', 'stop')
    expect(await instances.send('a', message('m2', write('two.txt')))).toMatchObject(refused)
    expect(await instances.act('a', 'start')).toMatchObject({
      error: { kind: 'outside_workspace' },
    })
    await first.close()
    const next = await realInstances({ root })
    expect(await next.instances.send('a', message('m2'))).toMatchObject(refused)
    expect(await readdir(target)).toEqual([])
    await rm(sub)
    await rename(`${sub}.old`, sub)
    value(await next.instances.send('a', message('m2', write('two.txt'))))
    const end = await endOf(next.instances, 'a', 'm2')
    expect(end).toMatchObject({ payload: { status: 'completed' } })
    expect(await readFile(join(sub, 'two.txt'), 'utf8')).toBe('calm\n')
  },
)
