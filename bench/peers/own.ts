import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { builtProgram, said } from '../program.ts'
import { PROMPT, READ_FILE, SHELL_COMMAND, type Contestant } from './contestant.ts'
import { offlineEnv } from './offline-env.ts'
import type { Quarters } from './quarters.ts'

const MANIFEST = fileURLToPath(new URL('../../package.json', import.meta.url))

/** A built Hawser. */
export interface Build {
  readonly name: string
  readonly version: string
  readonly program: string
  /** The Node that runs it. */
  readonly node: string
  readonly env: Readonly<Record<string, string>>
}

export async function own(quarters: Quarters): Promise<Contestant> {
  const program = await builtProgram()
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(await readFile(MANIFEST, 'utf8')))
  return hawser({ name: 'Hawser', version, program, node: process.execPath, env: {} }, quarters)
}

export async function hawser(build: Build, { home, workspace }: Quarters): Promise<Contestant> {
  const { name, version, program, node } = build
  const env = {
    ...offlineEnv(home, node),
    HAWSER_HOME: join(home, 'hawser'),
    ANTHROPIC_API_KEY: 'offline',
    ...build.env,
  }
  const place = { cwd: workspace, env }
  await said([program, 'config', 'set', 'limits.provider_calls', '10000'], place)
  const options = ['--provider', 'anthropic', '--permission', 'auto', '--json']
  return {
    name,
    version,
    dialect: 'messages',
    calls: {
      read: { name: 'read', arguments: { path: READ_FILE } },
      shell: { name: 'bash', arguments: { command: SHELL_COMMAND } },
    },
    home,
    workspace,
    command: async (baseUrl, resumes) => ({
      args: [node, program, 'run', PROMPT, ...(resumes ? ['--continue'] : []), ...options],
      cwd: workspace,
      env: { ...env, ANTHROPIC_BASE_URL: baseUrl },
    }),
  }
}
