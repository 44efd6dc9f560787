import process from 'node:process'
import { join } from 'node:path'
import { nativePart } from '../../test/clients/install.ts'
import { PROMPT, READ_FILE, SHELL_COMMAND, type Contestant } from './contestant.ts'
import { cachedPackages } from './cached-packages.ts'
import { offlineEnv } from './offline-env.ts'
import { PEERS } from './pins.ts'
import type { Quarters } from './quarters.ts'

export async function codex({ home, workspace }: Quarters): Promise<Contestant> {
  const pin = PEERS.codex
  const modules = await cachedPackages([pin])
  await nativePart(modules, pin)
  const program = join(modules, pin.name, 'bin', 'codex.js')
  const env = { ...offlineEnv(home, program), OPENAI_API_KEY: 'offline', CODEX_HOME: home }
  return {
    name: 'codex',
    version: pin.version,
    dialect: 'responses',
    calls: {
      // It has no tool that only reads.
      read: { name: 'exec_command', arguments: { cmd: `cat ${READ_FILE}` } },
      shell: { name: 'exec_command', arguments: { cmd: SHELL_COMMAND } },
    },
    home,
    workspace,
    command: async (baseUrl, resumes) => {
      const provider = [
        'name="loopback"',
        `base_url="${baseUrl}/v1"`,
        'env_key="OPENAI_API_KEY"',
        'wire_api="responses"',
        'supports_websockets=false',
      ]
      const settings = [
        'model_provider=loopback',
        `model_providers.loopback={${provider.join(',')}}`,
        'analytics.enabled=false',
        'check_for_update_on_startup=false',
      ].flatMap((setting) => ['-c', setting])
      // Its sandbox does not work everywhere, and the command is ours.
      const options = ['--skip-git-repo-check', '-s', 'danger-full-access', '-m', 'gpt-5.5']
      const resumed = resumes ? ['resume', '--last'] : []
      return {
        args: [process.execPath, program, 'exec', ...settings, ...options, ...resumed, PROMPT],
        cwd: workspace,
        env,
      }
    },
  }
}
