import { spawn } from 'node:child_process'
import process from 'node:process'
import type { Place } from './program.ts'

/** Milliseconds from the start of a program until it reports the call of its model. */
export function firstRequest(args: readonly string[], { cwd, env }: Place): Promise<number> {
  const started = performance.now()
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let heard = ''
  let ms: number | undefined
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    heard += text
    if (heard.includes('"provider_request"')) ms ??= performance.now() - started
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => {
      const made = ms === undefined ? 'no request' : /"type":"tool_call"/.exec(heard)?.[0]
      if (ms === undefined || made !== undefined) {
        reject(new Error(`${args.join(' ')} made ${made}: ${heard}`))
      } else resolve(ms)
    })
  })
}
