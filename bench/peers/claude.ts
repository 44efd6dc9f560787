import { join } from 'node:path'
import { nativePart } from '../../test/clients/install.ts'
import { PROMPT, READ_FILE, SHELL_COMMAND, type Contestant } from './contestant.ts'
import { cachedPackages } from './cached-packages.ts'
import { offlineEnv } from './offline-env.ts'
import { PEERS } from './pins.ts'
import type { Quarters } from './quarters.ts'

export async function claude({ home, workspace }: Quarters): Promise<Contestant> {
  const pin = PEERS.claude
  const program = join(await nativePart(await cachedPackages([pin]), pin), 'claude')
  const env = { ...offlineEnv(home, program), ANTHROPIC_API_KEY: 'offline' }
  return {
    name: 'claude',
    version: pin.version,
    dialect: 'messages',
    calls: {
      read: { name: 'Read', arguments: { file_path: join(workspace, READ_FILE) } },
      shell: { name: 'Bash', arguments: { command: SHELL_COMMAND, description: 'Prints a word' } },
    },
    home,
    workspace,
    command: async (baseUrl, resumes) => ({
      args: [
        program,
        ...(resumes ? ['--continue'] : []),
        '-p',
        PROMPT,
        '--allowedTools',
        'Read,Bash',
        '--output-format',
        'json',
      ],
      cwd: workspace,
      env: { ...env, ANTHROPIC_BASE_URL: baseUrl },
    }),
  }
}
