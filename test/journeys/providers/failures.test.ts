import { expect, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { runCli } from '../../support/cli/cli.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'

const { isConfined } = await systemSandbox().status()

test.skipIf(!isConfined)(
  'a command that failed is shown as failed with its exit code, wherever it is shown',
  async () => {
    const { root } = await harnessPlace()
    const run = await runCli({ root }, 'run', '--permission', 'auto', '--json', 'Run `exit 3`')
    const result = run.stdout.split('\n').find((line) => line.includes('"type":"tool_result"'))
    expect(JSON.parse(result ?? '{}')).toMatchObject({ data: { outcome: 'failed', exit_code: 3 } })
    const shown = await runCli({ root }, 'log', 'show', 'latest')
    expect(shown.stdout).toMatch(/bash failed, exit code 3/)
    const markdown = await runCli({ root }, 'log', 'export', 'latest')
    expect(markdown.stdout).toContain('Tool result: bash, failed, exit code 3')
    expect((await runCli({ root }, 'log', 'verify', 'latest', '--requests')).code).toBe(0)
  },
)

test.skipIf(!isConfined)(
  'a failed network attempt of a command is reported while it runs, and to the model',
  async () => {
    const { root } = await harnessPlace()
    const prompt = 'Run `exec 3<>/dev/tcp/192.0.2.1/80; read -t 0.2 < <(sleep 1); exit 4`'
    const words = await runCli({ root }, 'run', '--permission', 'auto', prompt)
    expect(words.stderr).toContain('hawser: The command tried to reach the network')
    const json = await runCli({ root }, 'run', '--permission', 'auto', '--json', prompt)
    const lines = json.stdout.split('\n')
    const [notice, result] = [
      lines.findIndex((line) => line.includes('"notice":true')),
      lines.findIndex((line) => line.includes('"type":"tool_result"')),
    ]
    expect(notice).toBeGreaterThan(-1)
    expect(notice).toBeLessThan(result)
    expect(lines[result]).toContain('call again with network: true')
  },
)
