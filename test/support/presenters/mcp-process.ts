import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { guestProgram } from '../cli/guest-bundle.ts'

/** `hawser mcp` as a process, whose streams a test reads and writes by itself. */
export interface McpProcess {
  readonly child: ChildProcess
  readonly send: (message: object) => void
  readonly ended: Promise<number | null>
  /** Everything it wrote on standard output. Nothing is read before the first call. */
  readonly output: () => Promise<string>
  readonly errors: () => string
}

export async function mcpProcess(
  root: string,
  env: Readonly<Record<string, string>> = {},
): Promise<McpProcess> {
  const [command, ...args] = (await guestProgram()).argv
  const child = spawn(command, [...args, 'mcp'], {
    cwd: join(root, 'workspace'),
    env: { PATH: process.env['PATH'], HAWSER_HOME: join(root, 'home'), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = new Promise<number | null>((resolve) => void child.on('exit', resolve))
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  child.stdin.on('error', () => {})
  return {
    child,
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    ended,
    output: async () => {
      const pieces: Buffer[] = []
      for await (const piece of child.stdout as AsyncIterable<Buffer>) pieces.push(piece)
      return Buffer.concat(pieces).toString('utf8')
    },
    errors: () => errors,
  }
}

/** A call of a tool as a line, in the revisions before 2026-07-28, which need no handshake here. */
export function toolCall(id: number, name: string, args: object): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }
}
