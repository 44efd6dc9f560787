import { spawn } from 'node:child_process'
import { readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { guestProgram } from '../../support/cli/guest-bundle.ts'

/** `hawser up` as a process of its own, and what can be measured of it. */
export interface FloodedServer {
  readonly token: string
  readonly port: number
  readonly workspace: string
  /** Connects to the port, or to the socket. Errors of the connection are ignored. */
  readonly connected: (via: Via) => Socket
  /** Sends a request and returns its status and body when the server closes the connection. */
  readonly ask: (via: Via, method: string, path: string, body?: object) => Promise<Answered>
  readonly isAlive: () => boolean
  /** The open descriptors of the process, without that of inotify: Node opens it for the first watch and keeps it. */
  readonly descriptors: () => number
  /** The resident memory in MiB. */
  readonly memory: () => number
  /** The most resident memory in MiB since the last `forgetPeak`. */
  readonly peak: () => number
  readonly forgetPeak: () => void
  /** What it printed on standard error, and the defects in its log. */
  readonly complaints: () => Promise<string>
  readonly stop: () => Promise<void>
}

export type Via = 'port' | 'socket'

export interface Answered {
  readonly status: number
  readonly body: string
}

export async function floodedServer(root: string): Promise<FloodedServer> {
  const [home, workspace] = [join(root, 'home'), join(root, 'workspace')]
  for (const folder of [home, workspace]) await mkdir(folder, { recursive: true, mode: 0o700 })
  const { argv } = await guestProgram()
  const [node, ...script] = argv
  const child = spawn(node, [...script, 'up', '--json'], {
    cwd: workspace,
    env: { PATH: process.env['PATH'], HAWSER_HOME: home, HAWSER_PROVIDER: 'rehearsal' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const exited = new Promise<void>((resolve) => void child.once('close', () => resolve()))
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (bytes: Buffer) => resolve(bytes.toString()))
    void exited.then(() => reject(new Error(`the server did not start: ${printed}`)))
  })
  const { origin, socket } = JSON.parse(line) as { origin: string; socket: string }
  const token = (await readFile(join(home, 'token'), 'utf8')).trim()
  const proc = (name: string) => `/proc/${child.pid}/${name}`
  const figure = (name: string) =>
    Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(proc('status'), 'utf8'))?.[1]) / 1024
  const port = Number(new URL(origin).port)
  const connected = (via: Via) => {
    const one = via === 'port' ? connect(port, '127.0.0.1') : connect(socket)
    return one.on('error', () => {})
  }
  return {
    token,
    port,
    workspace,
    connected,
    ask: (via, method, path, body) => ask(connected(via), { method, path, body, token, port }),
    isAlive: () => child.exitCode === null && child.signalCode === null,
    descriptors: () => descriptorsIn(proc('fd')),
    memory: () => figure('VmRSS'),
    peak: () => figure('VmHWM'),
    forgetPeak: () => writeFileSync(proc('clear_refs'), '5'),
    complaints: async () => {
      const log = await readFile(join(home, 'logs/server.ndjson'), 'utf8').catch(() => '')
      const defects = log.split('\n').filter((each) => each.includes('"event":"defect"'))
      return [printed, ...defects].join('\n').trim()
    },
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly body: object | undefined
  readonly token: string
  readonly port: number
}

async function ask(
  connection: Socket,
  { method, path, body, token, port }: Asked,
): Promise<Answered> {
  let received = ''
  connection.setEncoding('latin1').on('data', (piece: string) => (received += piece))
  const closed = new Promise<void>((resolve) => void connection.once('close', () => resolve()))
  const content = body === undefined ? '' : JSON.stringify(body)
  connection.write(
    `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n` +
      (body === undefined
        ? '\r\n'
        : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`),
  )
  await closed
  const [head = '', ...rest] = received.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), body: rest.join('\r\n\r\n') }
}

function descriptorsIn(folder: string): number {
  return readdirSync(folder).filter((name) => targetOf(join(folder, name)) !== 'anon_inode:inotify')
    .length
}

function targetOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // Closed meanwhile.
    return ''
  }
}
