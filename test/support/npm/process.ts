import { spawn } from 'node:child_process'

export interface Ran {
  /** `undefined` if the program was killed at its time limit. */
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly seconds: number
}

/**
 * Runs a program until it exits, for at most `seconds`. It stays in the process group of the script, so that killing the
 * group leaves nothing running.
 */
export async function run(
  [command = '', ...args]: readonly string[],
  { cwd, env, seconds }: RunOptions,
): Promise<Ran> {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)]
  let late = false
  const timers = [
    setTimeout(() => {
      late = true
      child.kill('SIGTERM')
    }, seconds * 1000),
    setTimeout(() => child.kill('SIGKILL'), (seconds + GRACE_SECONDS) * 1000),
  ]
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('close', resolve)
    })
    return { code: late ? undefined : (code ?? 1), stdout: stdout(), stderr: stderr() }
  } finally {
    for (const timer of timers) clearTimeout(timer)
  }
}

const GRACE_SECONDS = 5

/** Returns a function that returns the text of a stream so far. */
export function textOf(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString('utf8')
}
