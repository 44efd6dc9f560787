import { chown, mkdir, readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { startProgram, type StartOptions } from '../../support/cli/program.ts'

/** The local server as a process of its own, and what an attacker on this machine can send to it. */
export interface AttackedServer {
  readonly port: number
  readonly socket: string
  readonly token: string
  readonly root: string
  readonly workspace: string
  /** Sends bytes and returns everything until the server closes the connection, or answers completely. */
  readonly say: (bytes: string) => Promise<string>
  /** A whole request with the token; returns its status and its body. */
  readonly ask: (request: Ask) => Promise<{ readonly status: number; readonly body: string }>
  readonly connected: () => Socket
  /** The most memory that the server has ever used, in MiB. */
  readonly peakMemory: () => Promise<number>
}

export interface Ask {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Ends with the test, unless `atEnd` takes over, for tests of a group that share it. */
export async function attackedServer(
  uid?: number,
  atEnd: StartOptions['atEnd'] = onTestFinished,
): Promise<AttackedServer> {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(workspace)
  if (uid !== undefined) for (const folder of [root, workspace]) await chown(folder, uid, uid)
  const options = {
    root,
    env: { HAWSER_PROVIDER: 'rehearsal' },
    atEnd,
    ...(uid === undefined ? {} : { uid }),
  }
  const program = await startProgram(options, ['up', '--json'])
  // A warning on standard error may come first.
  await program.waitFor('}\n')
  const { origin, socket, pid } = JSON.parse(program.stdout()) as Record<string, string>
  const port = Number(new URL(origin ?? '').port)
  const token = (await readFile(join(root, 'home', 'token'), 'utf8')).trim()
  const connected = () => {
    const connection = connect(port, '127.0.0.1')
    connection.on('error', () => {})
    onTestFinished(() => void connection.destroy())
    return connection
  }
  const say = async (bytes: string) => {
    const connection = connected()
    let received = ''
    connection.setEncoding('latin1').on('data', (piece: string) => (received += piece))
    connection.write(bytes)
    await closed(connection)
    return received
  }
  const ask: AttackedServer['ask'] = async ({ method = 'GET', path, headers = {}, body }) => {
    const all = {
      Host: `127.0.0.1:${port}`,
      Authorization: `Bearer ${token}`,
      Connection: 'close',
      ...(body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
      ...headers,
    }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    const answer = await say(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`)
    const [head = '', ...rest] = answer.split('\r\n\r\n')
    return { status: Number(head.split(' ')[1]), body: rest.join('\r\n\r\n') }
  }
  const peakMemory = async () => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024
  }
  return { port, socket: socket ?? '', token, root, workspace, say, ask, connected, peakMemory }
}

/** Resolves when a connection is closed, also by an error. */
export function closed(connection: Socket): Promise<void> {
  return new Promise((resolve) => void connection.once('close', () => resolve()))
}
