import { execFileSync } from 'node:child_process'
import { chown, mkdir, open, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { NOBODY, startProgram, whyNotAsNobody } from '../../support/cli/program.ts'

const { isConfined } = await systemSandbox().status()
const users = (await whyNotAsNobody()) === undefined ? ['this user', 'nobody'] : ['this user']

test.runIf(isConfined).each(users)(
  'as %s: a workspace that another hawser creates while a command runs stays, and a planted one does not',
  async (user) => {
    const root = await freshFolder()
    const workspace = join(root, 'workspace')
    const other = join(workspace, 'packages/other')
    await mkdir(other, { recursive: true })
    await mkdir(join(root, 'home'), { mode: 0o700 })
    execFileSync('mkfifo', ['-m', '666', join(workspace, 'started'), join(workspace, 'go')])
    // Opening a pipe waits for its other end, so neither side sleeps.
    const script = 'mkdir -p -m 700 planted/.hawser; chmod 700 planted/.hawser; : > started; cat go'
    await writeFile(join(workspace, 'script.sh'), script)
    const uid = user === 'nobody' ? { uid: NOBODY } : {}
    if (user === 'nobody') await givenTo(root)
    const place = { root, ...uid }
    const argv = ['run', '--permission', 'auto', 'Run `sh script.sh`']
    const running = await startProgram(place, argv)
    await (await open(join(workspace, 'started'), 'r')).close()
    const meanwhile = await startProgram(place, ['run', '--workspace', other, 'Other words'])
    expect((await meanwhile.ended).code).toBe(0)
    await (await open(join(workspace, 'go'), 'w')).close()
    expect((await running.ended).code).toBe(0)
    expect(running.stdout() + running.stderr()).toContain('planted/.hawser')
    expect(await readdir(join(workspace, 'planted'))).toEqual([])
    const found = await startProgram(place, ['grep', 'words', '--workspace', other])
    expect((await found.ended).code).toBe(0)
    expect(found.stdout()).toContain('Other words')
    const verified = await startProgram(place, ['log', 'verify', 'latest', '--workspace', other])
    expect((await verified.ended).code).toBe(0)
  },
  120_000,
)

async function givenTo(root: string): Promise<void> {
  for (const name of await readdir(root, { recursive: true }))
    await chown(join(root, name), NOBODY, NOBODY)
  await chown(root, NOBODY, NOBODY)
}
