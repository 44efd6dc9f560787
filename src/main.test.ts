import { expect, test } from 'vitest'
import { runCli, type CliRun } from '../test/support/cli/cli.ts'

async function run(...argv: string[]): Promise<CliRun> {
  return runCli({ root: '/nowhere' }, ...argv)
}

test.each(['--version', '-V'])('%s prints the version of the build', async (option) => {
  const { code, stdout, stderr } = await run(option)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^hawser \d+\.\d+\.\d+\n$/)
})

test('--help, -h and no argument print the help', async () => {
  const { code, stdout, stderr } = await run('--help')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('hawser run "What is in this folder?"')
  expect(await run('-h')).toEqual({ code, stdout, stderr })
  expect(await run()).toEqual({ code, stdout, stderr })
})

test('an unknown command is a usage error on stderr, with a next step', async () => {
  expect(await run('xyzzy', '--fast')).toEqual({
    code: 2,
    stdout: '',
    stderr: 'hawser: Unknown command "xyzzy".\nTry: hawser run "xyzzy"\nTry: hawser --help\n',
  })
})

test('with --json the error is data on stdout', async () => {
  const { code, stdout, stderr } = await run('xyzzy', '--json')
  expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
  expect(stdout.endsWith('\n')).toBe(true)
  expect(JSON.parse(stdout)).toEqual({
    ok: false,
    error: {
      kind: 'invalid_args',
      message: expect.any(String),
      details: { arguments: ['xyzzy', '--json'] },
      next_actions: [
        { action: 'send_prompt', command: 'hawser run "xyzzy"' },
        { action: 'show_help', command: 'hawser --help' },
      ],
    },
  })
})

test('--json alone is an error too: there is no command', async () => {
  const { code, stdout } = await run('--json')
  expect(code).toBe(2)
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { kind: 'invalid_args' } })
})

test('a misspelled command gets a suggestion', async () => {
  expect(await run('sesions')).toEqual({
    code: 2,
    stdout: '',
    stderr: 'hawser: Unknown command "sesions". Did you mean sessions?\nTry: hawser --help\n',
  })
})

test('an unknown option, and too many or too few arguments, are usage errors that name them', async () => {
  expect(await run('run', '--bogus', 'x')).toMatchObject({ code: 2, stdout: '' })
  expect(await run('sessions', 'x', 'y')).toMatchObject({ code: 2, stdout: '' })
  const { code, stderr } = await run('grep')
  expect([code, stderr]).toEqual([
    2,
    "hawser: Missing required argument 'pattern'.\nTry: hawser grep --help\n",
  ])
})

test('typed text cannot control the terminal', async () => {
  const { stderr } = await run('\u001b[2J\u202Eevil')
  expect(stderr).toBe('hawser: Unknown command "\\u001b[2J\\u{202e}evil".\nTry: hawser --help\n')
})

test('a usage error found by the parser or by the command names the help of that command', async () => {
  const cases = [
    [['log', 'export', '--format', 'pdf'], 'hawser log export --help'],
    [['cache', 'probe', '--bogus'], 'hawser cache probe --help'],
    [['rehearse', '--port', '99999'], 'hawser rehearse --help'],
  ] as const
  for (const [args, help] of cases) {
    const { code, stderr } = await run(...args)
    expect(code).toBe(2)
    expect(stderr).toMatch(/^hawser: [A-Z-]/)
    expect(stderr).toContain(`\nTry: ${help}\n`)
  }
})
