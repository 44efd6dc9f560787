import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gitReadsAt } from '../../../src/host/sandbox/git/reads.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { ok } from '../../../src/model/errors.ts'
import { rootPaths } from '../../../src/model/safety/protected-paths.ts'
import { decide } from '../../../src/policy/decide.ts'
import { freshFolder } from '../../support/host/folder.ts'

const exec = promisify(execFile)
const sandbox = systemSandbox()

/** A workspace, a program that leaves a mark, and a person who runs git. */
export interface GitScene {
  readonly path: string
  readonly mark: string
  readonly fill: (text: string) => string
  /** Writes files as an unrestricted tool does. */
  readonly write: (files: Readonly<Record<string, string>>) => Promise<void>
  /** Writes as `write` does in `auto` if every question is denied; returns what was asked about. */
  readonly questions: (files: Readonly<Record<string, string>>) => Promise<readonly string[]>
  /** Runs a command as bash does in `auto`; returns what was moved aside. */
  readonly bash: (
    script: string,
  ) => Promise<{ moved: readonly string[]; code: number | null; output: string }>
  readonly git: (...args: readonly string[]) => Promise<string>
  /** Whether the person's `git status` in these folders ran the program. */
  readonly marked: (...folders: readonly string[]) => Promise<boolean>
}

export async function gitScene(): Promise<GitScene> {
  const [path, beside, home] = [await freshFolder(), await freshFolder(), await freshFolder()]
  const mark = join(beside, 'mark.sh')
  await writeFile(mark, `#!/bin/sh\ntouch ${beside}/marked\n`)
  await chmod(mark, 0o755)
  const env = { PATH: process.env['PATH'], HOME: beside, GIT_CONFIG_NOSYSTEM: '1' }
  const fill = (text: string) =>
    text.replaceAll('MARK', mark).replaceAll('ROOT', path).replaceAll('EV', 'ev')
  const put = async (name: string, text: string) => {
    await mkdir(dirname(join(path, name)), { recursive: true })
    await writeFile(join(path, name), fill(text), { mode: 0o755 })
  }
  const run = sandbox.runConfined({
    workspace: path,
    home,
    writable: 'workspace',
    protectedPaths: rootPaths('asks'),
    keep: async (_name, content) => {
      for await (const chunk of content) void chunk
      return ok(undefined)
    },
  })
  return {
    path,
    mark,
    fill,
    write: async (files) => {
      for (const [name, text] of Object.entries(files)) await put(fill(name), text)
    },
    questions: async (files) => {
      const denied: string[] = []
      for (const [name, text] of Object.entries(files).map(([key, value]) => [fill(key), value])) {
        if (name === undefined || text === undefined) continue
        const gitReads = await gitReadsAt(path, name)
        const claim = { tool: 'write', effect: 'write', paths: [name], network: false, gitReads }
        const posture = { mode: 'auto', isConfined: true, rules: [] } as const
        if (decide({ ...claim, effect: 'write' }, posture).answer === 'allow') await put(name, text)
        else denied.push(name)
      }
      return denied
    },
    bash: async (script) => {
      const chunks: Buffer[] = []
      const ran = await run({
        argv: ['/bin/bash', '-c', fill(script)],
        wallMs: 60_000,
        signal: new AbortController().signal,
        onOutput: (chunk) => void chunks.push(chunk),
      })
      if (!ran.ok) throw new Error(ran.error.message)
      const { appearedPaths, code } = ran.value
      return { moved: appearedPaths, code, output: Buffer.concat(chunks).toString() }
    },
    git: async (...args) => (await exec('git', args, { cwd: path, env })).stdout,
    marked: async (...folders) => {
      for (const folder of folders) {
        await exec('git', ['status'], { cwd: join(path, folder), env }).catch(() => undefined)
      }
      const names = await readdir(beside)
      await rm(join(beside, 'marked'), { force: true })
      return names.includes('marked')
    },
  }
}

/** The files of a git directory with this configuration. */
export function gitDirectory(at: string, config: string): Record<string, string> {
  const below = at === '' ? '' : `${at}/`
  return {
    [`${below}HEAD`]: 'ref: refs/heads/main\n',
    [`${below}objects/x`]: '',
    [`${below}refs/x`]: '',
    [`${below}config`]: config,
  }
}
