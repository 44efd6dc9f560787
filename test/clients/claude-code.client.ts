import { join } from 'node:path'
import * as z from 'zod'
import { install, nativePart } from '../support/npm/install.ts'
import { testClient } from './loop.ts'
import { CLIENTS } from './pins.ts'

const pin = CLIENTS['Claude Code']

await testClient('Claude Code', async (root) => {
  const program = join(await nativePart(await install(root, [pin]), pin), 'claude')
  return [
    {
      way: 'Messages',
      record: 'POST /v1/messages',
      prepare: async ({ origin, prompt }) => ({
        command: [program, '-p', prompt, '--allowedTools', 'Read,Bash', '--output-format', 'json'],
        env: {
          ANTHROPIC_BASE_URL: origin,
          ANTHROPIC_API_KEY: 'offline',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          DISABLE_AUTOUPDATER: '1',
        },
      }),
      answer: async (stdout) => z.object({ result: z.string() }).parse(JSON.parse(stdout)).result,
    },
  ]
})
