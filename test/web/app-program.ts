import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { BUILT_APP } from '../support/http/built-app.ts'

/** The built program, always on one port: the address of a page survives it. */
export interface AppProgram {
  readonly origin: string
  readonly token: string
  readonly workspace: string
  /** Kills it with SIGKILL, and resolves when it is gone. */
  kill(): Promise<void>
  /** Starts it again after `kill`. */
  start(): Promise<void>
}

export async function appProgram(
  root: string,
  env: Readonly<Record<string, string>>,
): Promise<AppProgram> {
  const home = join(root, 'home')
  await mkdir(join(root, 'workspace'), { recursive: true })
  const port = await freePort()
  let kill = async () => {}
  const start = async () => {
    const script = join(BUILT_APP, '..', 'hawser.cjs')
    const child = spawn(process.execPath, [script, 'up', '--json', '--port', String(port)], {
      cwd: join(root, 'workspace'),
      env: { PATH: process.env['PATH'], HOME: home, HAWSER_HOME: home, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'close')
    kill = async () => {
      child.kill('SIGKILL')
      await ended
    }
    let text = ''
    for await (const piece of child.stdout) {
      text += String(piece)
      if (text.includes('}\n')) break
    }
    child.stdout.resume()
  }
  await start()
  onTestFinished(() => kill())
  const token = (await readFile(join(home, 'token'), 'utf8')).trim()
  const workspace = join(root, 'workspace')
  return { workspace, origin: `http://127.0.0.1:${port}`, token, kill: () => kill(), start }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  server.close()
  await once(server, 'close')
  return port
}
