import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newerNode, nodeIn } from '../../test/clients/install.ts'
import { PROMPT, READ_FILE, SHELL_COMMAND, type Contestant } from './contestant.ts'
import { cachedPackages } from './cached-packages.ts'
import { offlineEnv } from './offline-env.ts'
import { PEERS } from './pins.ts'
import type { Quarters } from './quarters.ts'

export async function pi({ home, workspace }: Quarters): Promise<Contestant> {
  const pin = PEERS.pi
  const modules = await cachedPackages([pin, ...newerNode()])
  const program = join(modules, '.bin', 'pi')
  const node = nodeIn(modules)
  const agent = join(home, '.pi', 'agent')
  await mkdir(agent, { recursive: true })
  const options = ['--offline', '--model', 'loopback/any', '-p', PROMPT]
  return {
    name: 'pi',
    version: pin.version,
    dialect: 'messages',
    calls: {
      read: { name: 'read', arguments: { path: READ_FILE } },
      shell: { name: 'bash', arguments: { command: SHELL_COMMAND } },
    },
    home,
    workspace,
    command: async (baseUrl, resumes) => {
      const models = [{ id: 'any' }]
      const loopback = { baseUrl, api: 'anthropic-messages', apiKey: 'offline', models }
      await writeFile(join(agent, 'models.json'), JSON.stringify({ providers: { loopback } }))
      return {
        args: [node, program, ...(resumes ? ['--continue'] : []), ...options],
        cwd: workspace,
        env: offlineEnv(home, node),
      }
    },
  }
}
