import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import * as z from 'zod'
import { runCli, type CliRun } from './cli.ts'
import { freshFolder } from '../host/folder.ts'

const MentioningMessage = z.looseObject({
  prompt_mode: z.string(),
  resources: z.array(z.looseObject({ name: z.string() })).default([]),
  mentions: z
    .array(z.looseObject({ path: z.string(), kind: z.string(), bytes: z.number() }))
    .default([]),
  mention_errors: z
    .array(z.object({ path: z.string(), code: z.string(), reason: z.string() }))
    .default([]),
})

/** The message of a run with `--json`. */
export function messageOf({ stdout }: CliRun): z.infer<typeof MentioningMessage> {
  const lines = stdout.trimEnd().split('\n')
  const events = lines.map((line) =>
    z.looseObject({ type: z.string(), data: z.unknown().optional() }).parse(JSON.parse(line)),
  )
  return MentioningMessage.parse(events.find(({ type }) => type === 'user_message')?.data)
}

/** A workspace with two text files. */
export async function sourcePlace(): Promise<{
  readonly root: string
  readonly workspace: string
}> {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(join(workspace, 'src'), { recursive: true })
  await writeFile(join(workspace, 'src', 'index.ts'), 'export const rope = 1\n')
  await writeFile(join(workspace, 'Makefile'), 'all:\n\ttouch sail\n')
  return { root, workspace }
}

/** The text of the next request. */
export async function nextRequest(root: string, dialect = 'messages'): Promise<string> {
  const next = ['request', 'latest', '--prompt', 'Go on', '--dialect', dialect, '--json']
  const { stdout } = await runCli({ root }, ...next)
  return z.object({ body: z.string() }).parse(JSON.parse(stdout)).body
}

export async function verifiedRequests(root: string): Promise<void> {
  const proof = await runCli({ root }, 'log', 'verify', 'latest', '--requests')
  expect(proof.stderr).toBe('')
  expect(proof.code).toBe(0)
}
