import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type * as z from 'zod'
import { bundleScript } from './bundle-script.ts'
import { freshFolder } from './folder.ts'

/** Runs a script in a process of its own, and returns the JSON that it prints. */
export async function scriptResult<T>(
  script: URL,
  order: object,
  result: z.ZodType<T>,
): Promise<T> {
  const bundle = await bundleScript(script, await freshFolder())
  const args = ['--expose-gc', bundle, JSON.stringify(order)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return result.parse(JSON.parse(stdout))
}
