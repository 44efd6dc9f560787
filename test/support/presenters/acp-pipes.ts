import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { SchemaCheck } from './acp-schemas.ts'
import { freshFolder } from '../host/folder.ts'
import { startProgram, type Started } from '../cli/program.ts'

export const HELLO = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1 } }

/** A message of the agent, as far as tests look at it. */
interface AgentMessage {
  readonly id?: unknown
  readonly method?: string
  readonly error?: { readonly code: number; readonly data: { readonly kind: string } }
  readonly result?: { readonly stopReason?: string }
  readonly params?: {
    readonly update?: {
      readonly sessionUpdate: string
      readonly content?: { readonly text?: string }
    }
  }
}

/**
 * The program without a client: lines go in and out as they are. At the end of the test, every request and notification of
 * the agent is checked against the schemas.
 */
export async function acpPipes(env: Readonly<Record<string, string>> = {}) {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  const program = await startProgram(
    { root, env: { HAWSER_PROVIDER: 'rehearsal', ...env }, stdin: 'pipe' },
    ['acp'],
  )
  const send = (line: string | Buffer | object) => {
    const text = typeof line === 'string' || Buffer.isBuffer(line) ? line : JSON.stringify(line)
    program.child.stdin?.write(Buffer.concat([Buffer.from(text), Buffer.from('\n')]))
  }
  onTestFinished(() => {
    const check = new SchemaCheck()
    for (const message of messagesIn(program))
      if (message.method !== undefined) check.take('agent', { ...message })
    expect(check.offences).toEqual([])
  })
  return { root, workspace: join(root, 'workspace'), program, send }
}

/** Every whole line is JSON. */
export function messagesIn({ stdout }: Started): readonly AgentMessage[] {
  const lines = stdout().split('\n').slice(0, -1)
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as AgentMessage)
}
