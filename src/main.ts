/** Put here by the build, from package.json. */
declare const HAWSER_VERSION: string | undefined

/** The world as the launcher hands it over. `argv` holds what a person typed after the program's name. */
export interface Invocation {
  readonly argv: readonly string[]
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
}

interface Output {
  write(text: string): unknown
}

const EXIT = { done: 0, usage: 2 } as const

/**
 * Runs one command and resolves to its exit code. Does not end the process.
 * Each command is a dynamic import: a person waits only for the parts their command needs.
 */
export async function main(invocation: Invocation): Promise<number> {
  const { argv, stdout } = invocation
  if (isOnly(argv, '--version', '-V')) {
    stdout.write(`hawser ${version()}\n`)
    return EXIT.done
  }
  if (argv.length === 0 || isOnly(argv, '--help', '-h')) {
    const { HELP } = await import('./presenters/cli/help.ts')
    stdout.write(HELP)
    return EXIT.done
  }
  return refuse(invocation)
}

async function refuse({ argv, stdout, stderr }: Invocation): Promise<number> {
  const { unknownCommand, failureAsJson, failureAsText } =
    await import('./presenters/cli/failure.ts')
  const failure = unknownCommand(argv)
  if (argv.includes('--json')) stdout.write(failureAsJson(failure))
  else stderr.write(failureAsText(failure))
  return EXIT.usage
}

function isOnly(argv: readonly string[], ...spellings: readonly string[]): boolean {
  return argv.length === 1 && spellings.includes(argv[0] ?? '')
}

function version(): string {
  return typeof HAWSER_VERSION === 'undefined' ? '0.0.0-source' : HAWSER_VERSION
}
