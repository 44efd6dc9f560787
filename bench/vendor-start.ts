import { spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import type { VendorDialect } from '../test/support/providers/vendor-schemas.ts'
import type { Place } from './program.ts'
import type { Vendor } from './vendor.ts'

export const PROVIDERS: Readonly<Record<VendorDialect, string>> = {
  messages: 'anthropic',
  responses: 'openai',
  chat: 'openai-chat',
}

/** The file that the answers of the vendor read. */
export const READ_FILE = 'notes.txt'

export async function workspaceWith(folder: string, fileBytes: number): Promise<string> {
  const workspace = join(folder, `workspace-${fileBytes}`)
  await mkdir(workspace, { recursive: true })
  const text = 'The tide turns at six.\n'.repeat(fileBytes / 20).slice(0, fileBytes)
  await writeFile(join(workspace, READ_FILE), text)
  return workspace
}

/** All providers are at the same address; the name selects one. */
export function placeOf(folder: string, cwd: string, url: string): Place {
  const access = {
    ANTHROPIC_API_KEY: 'key-of-the-bench',
    ANTHROPIC_BASE_URL: url,
    OPENAI_API_KEY: 'key-of-the-bench',
    OPENAI_BASE_URL: url,
    HAWSER_OPENAI_TRANSPORT: 'http-sse',
  }
  return { cwd, env: { ...process.env, HAWSER_HOME: join(folder, 'home'), ...access } }
}

/** Milliseconds from the start of a program until the server has received its complete first request. */
export async function firstRequest(
  args: readonly string[],
  { cwd, env }: Place,
  url: string,
  server: Vendor,
): Promise<{ readonly ms: number; readonly bytes: number }> {
  const request = server.requestTo(url)
  const started = Number(process.hrtime.bigint()) / 1e6
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const neverAsked = ended.then((code) => {
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`)
    return request
  })
  const { at_ms, bytes } = await Promise.race([request, neverAsked])
  await ended
  return { ms: at_ms - started, bytes }
}
