import { spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Output as UpOutput } from '../../../src/presenters/cli/commands/server/up.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { startProgram } from '../../support/cli/program.ts'

async function place(): Promise<string> {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  return root
}

test('`down` stops the server that holds the lock, and never the process of a wrong record', async () => {
  const root = await place()
  const program = await startProgram({ root }, ['up', '--json'])
  await program.waitFor('}\n')
  const bystander = spawn('sleep', ['60'], { stdio: 'ignore' })
  onTestFinished(() => void bystander.kill('SIGKILL'))
  const lock = join(root, 'home', 'hawserd.lock')
  const record = JSON.parse(await readFile(lock, 'utf8')) as object
  const write = (more: object) => writeFile(lock, JSON.stringify({ ...record, ...more }))
  // The record of an earlier process: the process that has its address now does not obey.
  await write({ pid: bystander.pid, control: 'c'.repeat(43) })
  expect(JSON.parse((await runCli({ root }, 'down', '--json')).stdout)).toMatchObject({
    ok: false,
    error: { kind: 'network' },
  })
  await write({ pid: bystander.pid })
  expect(JSON.parse((await runCli({ root }, 'down', '--json')).stdout)).toEqual({
    ok: true,
    stopped: true,
  })
  expect(await program.ended).toEqual({ code: 0, signal: null })
  expect([bystander.exitCode, bystander.signalCode]).toEqual([null, null])
})

async function tokenFor(link: string) {
  const { origin, hash } = new URL(link)
  const { code, folder } = Object.fromEntries(new URLSearchParams(hash.slice(1)))
  const answer = await fetch(`${origin}/page/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ code }),
  })
  const { token } = (await answer.json()) as { token?: string }
  return { token, folder }
}

test('`up --open` prints a link that gives the page the token once, also if the server runs', async () => {
  const root = await place()
  const workspace = join(root, 'workspace')
  const program = await startProgram({ root }, ['up', '--open'])
  await program.waitFor('#code=')
  expect(program.stdout()).toContain('with this link, which works once, within 60 seconds:')
  const [link = ''] = /http:\/\/127\.0\.0\.1:\d+\/#code=\S+/.exec(program.stdout()) ?? []
  const token = (await readFile(join(root, 'home', 'token'), 'utf8')).trim()
  expect(program.stdout()).not.toContain(token)
  expect(await tokenFor(link)).toEqual({ token, folder: workspace })
  expect(await tokenFor(link)).toEqual({ token: undefined, folder: workspace })
  for (const more of [[], ['--background']]) {
    const again = await runCli({ root }, 'up', '--open', '--json', ...more)
    const output = UpOutput.parse(JSON.parse(again.stdout))
    expect([again.code, output]).toMatchObject([0, { pid: program.child.pid, opened: false }])
    expect(await tokenFor(output.page_url ?? '')).toEqual({ token, folder: workspace })
  }
  await runCli({ root }, 'down')
  const background = await startProgram({ root }, ['up', '--background', '--open', '--json'])
  onTestFinished(async () => void (await runCli({ root }, 'down')))
  await background.ended
  const { page_url } = UpOutput.parse(JSON.parse(background.stdout()))
  expect(await tokenFor(page_url ?? '')).toEqual({ token, folder: workspace })
})
