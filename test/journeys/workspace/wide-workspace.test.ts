import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { workspaceGaps } from '../../../src/host/sandbox/mounts/wide-workspace.ts'
import { acpPlace, newSession } from '../../support/presenters/acp-editor.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { logOf } from '../../support/presenters/open-chat.ts'

const REACH =
  'commands can read and write everything there except known credential files, and can connect to Unix sockets there.'

async function place(): Promise<string> {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  return root
}

/** Until the end of the test, this folder is the home of the person. */
function liveIn(home: string): string {
  const before = process.env['HOME']
  process.env['HOME'] = home
  onTestFinished(() => {
    if (before === undefined) delete process.env['HOME']
    else process.env['HOME'] = before
  })
  return `The workspace contains ${home}: ${REACH}`
}

test('[AR-001] a Session in a home directory says once what commands can reach, and doctor says the same', async () => {
  const root = await place()
  const sentence = liveIn(join(root, 'workspace'))
  const first = await runCli({ root }, 'run', 'Hello')
  expect(first.stderr.split(sentence).length).toBe(2)
  expect(first.stderr).toContain('start in a project folder')
  const again = await runCli({ root }, 'run', '--continue', 'Hello again')
  expect(again.stderr).not.toContain(sentence)
  const notices = (await logOf(root)).flatMap((event) =>
    event.type === 'notice' ? [event.data.code] : [],
  )
  expect(notices).toEqual(['wide_workspace'])
  const verified = await runCli({ root }, 'log', 'verify', 'latest', '--requests')
  expect(verified.code).toBe(0)
  const doctor = await runCli({ root }, 'doctor', '--json')
  if (doctor.stdout.includes('"does_not_hold"')) expect(doctor.stdout).toContain(sentence)
})

test('[AR-002] with --json the notice is one of the Events', async () => {
  const root = await place()
  const sentence = liveIn(join(root, 'workspace'))
  const { stdout } = await runCli({ root }, 'run', '--json', 'Hello')
  const events = stdout.split('\n').filter((line) => line.includes('"type":"notice"'))
  expect(events.filter((line) => line.includes(sentence)).length).toBe(1)
  expect(stdout).toContain('wide_workspace')
})

test('[AR-006] an editor that creates a Session in a home directory shows it', async () => {
  const acp = await acpPlace({ capabilities: { session: { notices: {} } } })
  const sentence = liveIn(acp.workspace)
  const id = await newSession(acp)
  await acp.editor.prompt(id, 'Hello')
  expect(JSON.stringify(acp.editor.updates).split(sentence).length).toBe(2)
})

test('in a project nothing is said; at the root of the file system it is', async () => {
  const root = await place()
  const { stderr } = await runCli({ root }, 'run', 'Hello')
  expect(stderr).not.toContain(REACH)
  expect(workspaceGaps('/')).toEqual([`The workspace is the whole file system: ${REACH}`])
  expect(workspaceGaps(root)).toEqual([])
})
