import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { install, newerNode, nodeIn } from '../support/npm/install.ts'
import { testClient, type Loop } from './loop.ts'
import { CLIENTS } from './pins.ts'

const pin = CLIENTS.pi

/** The client's name for each dialect, and the path of the dialect on the server. */
const DIALECTS = [
  { way: 'Messages', api: 'anthropic-messages', base: '', path: '/v1/messages' },
  { way: 'Responses', api: 'openai-responses', base: '/v1', path: '/v1/responses' },
  { way: 'Chat Completions', api: 'openai-completions', base: '/v1', path: '/v1/chat/completions' },
] as const

await testClient('pi', async (root) => {
  const modules = await install(root, [pin, ...newerNode()])
  const program = join(modules, '.bin', 'pi')
  return DIALECTS.map(({ way, api, base, path }): Loop => ({
    way,
    record: `POST ${path}`,
    prepare: async ({ origin, home, prompt }) => {
      const agent = join(home, '.pi', 'agent')
      await mkdir(agent, { recursive: true })
      const provider = { baseUrl: origin + base, api, apiKey: 'offline', models: [{ id: 'any' }] }
      const models = { providers: { rehearse: provider } }
      await writeFile(join(agent, 'models.json'), JSON.stringify(models))
      const options = ['--offline', '--no-session', '--model', 'rehearse/any']
      return { command: [nodeIn(modules), program, ...options, '-p', prompt] }
    },
    answer: async (stdout) => stdout,
  }))
})
