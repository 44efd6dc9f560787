import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runFault } from '../support/figure.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const BROWSER = '/usr/bin/chromium'
const [FULL, QUICK] = [60, 6]

await runFault(
  'kill -9 of the server below a page',
  async () => (existsSync(BROWSER) ? undefined : `needs ${BROWSER}`),
  async ({ full, seed }) => {
    const { code, output } = await killRounds(full, seed)
    if (code !== 0) console.error(output.slice(-4000))
    const violations = code === 0 ? [] : ['a round failed']
    return [
      {
        test: 'typing, uploading, sending, streaming, question',
        n: full ? FULL : QUICK,
        violations,
      },
    ]
  },
)

/** The test of the page with its own runner, which knows how many rounds a size has. */
async function killRounds(full: boolean, seed: number) {
  const runner = join(ROOT, 'node_modules', '.bin', 'vitest')
  const args = ['run', '--config', 'vitest.web.config.ts', 'test/web/kills.web.ts']
  const env = { ...process.env, SEED: String(seed), HAWSER_TEST_SIZE: full ? 'long' : '' }
  const child = spawn(runner, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece) => void (output += String(piece)))
  const code = await new Promise<number>((resolve) => {
    child.on('close', (ended) => resolve(ended ?? 1))
  })
  return { code, output }
}
