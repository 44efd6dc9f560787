import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { install, nativePart } from '../support/npm/install.ts'
import { testClient, type Loop } from './loop.ts'
import { CLIENTS } from './pins.ts'

const pin = CLIENTS.Codex
const ANSWER = 'answer.txt'

await testClient('Codex', async (root) => {
  const modules = await install(root, [pin])
  await nativePart(modules, pin)
  const program = join(modules, pin.name, 'bin', 'codex.js')
  return [loopOver(program, 'HTTP'), loopOver(program, 'WebSocket')]
})

function loopOver(program: string, way: 'HTTP' | 'WebSocket'): Loop {
  return {
    way,
    record: way === 'HTTP' ? 'POST /v1/responses' : 'WS /v1/responses',
    prepare: async ({ origin, home, prompt }) => {
      const provider = [
        'name="rehearse"',
        `base_url="${origin}/v1"`,
        'env_key="OPENAI_API_KEY"',
        'wire_api="responses"',
        `supports_websockets=${way === 'WebSocket'}`,
      ]
      const settings = [
        'model_provider=rehearse',
        `model_providers.rehearse={${provider.join(',')}}`,
        'analytics.enabled=false',
        'check_for_update_on_startup=false',
      ].flatMap((setting) => ['-c', setting])
      // Its sandbox does not work from a home in a temporary folder, and the command is ours.
      const options = ['--skip-git-repo-check', '-s', 'danger-full-access', '-m', 'gpt-5']
      const last = ['--output-last-message', join(home, ANSWER)]
      return {
        command: [process.execPath, program, 'exec', ...settings, ...options, ...last, prompt],
        env: { OPENAI_API_KEY: 'offline', CODEX_HOME: home },
      }
    },
    answer: async (_stdout, home) => readFile(join(home, ANSWER), 'utf8'),
  }
}
