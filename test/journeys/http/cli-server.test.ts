import { mkdir, readFile, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Output as StatusOutput } from '../../../src/presenters/cli/commands/server/status.ts'
import { Output as UpOutput } from '../../../src/presenters/cli/commands/server/up.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { startProgram } from '../../support/cli/program.ts'

async function place(): Promise<string> {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  return root
}

async function limitsAt(origin: string, root: string): Promise<number> {
  const token = (await readFile(join(root, 'home', 'token'), 'utf8')).trim()
  const headers = { authorization: `Bearer ${token}` }
  return (await fetch(`${origin}/api/harness/limits`, { headers })).status
}

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'the server runs until %s, and then leaves neither socket nor lock',
  async (signal) => {
    const root = await place()
    const program = await startProgram({ root }, ['up', '--json'])
    await program.waitFor('}\n')
    const output = UpOutput.parse(JSON.parse(program.stdout()))
    const socket = join(root, 'home', 'hawserd.sock')
    expect(output).toMatchObject({ socket, token_file: join(root, 'home', 'token') })
    expect(output.pid).toBe(program.child.pid)
    expect(await limitsAt(output.origin, root)).toBe(200)
    const status = await runCli({ root }, 'status', '--json')
    expect([status.code, StatusOutput.parse(JSON.parse(status.stdout))]).toMatchObject([
      0,
      { running: true, server: { pid: output.pid, origin: output.origin, socket } },
    ])
    const second = await runCli({ root }, 'up', '--json')
    expect([second.code, JSON.parse(second.stdout)]).toMatchObject([
      2,
      { ok: false, error: { kind: 'invalid_args', details: { origin: output.origin } } },
    ])
    program.child.kill(signal)
    expect(await program.ended).toEqual({ code: 0, signal: null })
    await expect(stat(socket)).rejects.toThrow('ENOENT')
    expect(await runCli({ root }, 'status')).toMatchObject({
      code: 1,
      stdout: 'The local server is not running. To start it: hawser up\n',
    })
  },
)

test('in the background, the server outlives the command until it is stopped', async () => {
  const root = await place()
  const command = await startProgram({ root }, ['up', '--background', '--json'])
  expect(await command.ended).toEqual({ code: 0, signal: null })
  const { origin, pid } = UpOutput.parse(JSON.parse(command.stdout()))
  onTestFinished(async () => void (await runCli({ root }, 'down')))
  expect([await limitsAt(origin, root), pid === command.child.pid]).toEqual([200, false])
  const again = await startProgram({ root }, ['up', '--background'])
  expect([(await again.ended).code, again.stdout()]).toEqual([2, ''])
  expect(again.stderr()).toMatch(/^hawser: The local server is already running: http:.*\nTry: /)
  expect(JSON.parse((await runCli({ root }, 'down', '--json')).stdout)).toEqual({
    ok: true,
    stopped: true,
  })
  await expect(fetch(`${origin}/healthz`)).rejects.toThrow('fetch failed')
  expect(await runCli({ root }, 'down')).toMatchObject({
    code: 0,
    stdout: 'The local server is not running.\n',
  })
})

test('after kill -9 the next server starts at once, with the same token', async () => {
  const root = await place()
  const first = await startProgram({ root }, ['up', '--json'])
  await first.waitFor('}\n')
  const token = await readFile(join(root, 'home', 'token'), 'utf8')
  first.child.kill('SIGKILL')
  await first.ended
  expect((await runCli({ root }, 'status')).code).toBe(1)
  const second = await startProgram({ root }, ['up'])
  await second.waitFor('Press Ctrl-C to stop.')
  expect(await readFile(join(root, 'home', 'token'), 'utf8')).toBe(token)
  const [, origin = ''] =
    /listening on (http:\/\/127\.0\.0\.1:\d+) and /.exec(second.stdout()) ?? []
  expect(await limitsAt(origin, root)).toBe(200)
})

test('a port in use is an error if it was chosen', async () => {
  const root = await place()
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  onTestFinished(() => void other.close())
  const address = other.address()
  const port = typeof address === 'object' ? String(address?.port) : ''
  const { code, stdout } = await runCli({ root }, 'up', '--port', port, '--json')
  expect([code, JSON.parse(stdout)]).toMatchObject([2, { error: { kind: 'invalid_args' } }])
  const wrong = await runCli({ root }, 'up', '--port', 'http', '--json')
  expect(JSON.parse(wrong.stdout)).toMatchObject({ error: { kind: 'invalid_args' } })
})

test('without room for the socket path, the server listens on the port only and says why', async () => {
  const root = await place()
  const home = join(root, 'h'.repeat(100))
  const program = await startProgram({ root, env: { HAWSER_HOME: home } }, ['up'])
  await program.waitFor('Press Ctrl-C to stop.')
  expect(program.stderr()).toMatch(/^hawser: The socket path has \d+ bytes; the system allows 107/)
  const [, origin = ''] = /listening on (http:\/\/127\.0\.0\.1:\d+), /.exec(program.stdout()) ?? []
  expect((await fetch(`${origin}/healthz`)).status).toBe(200)
})
