import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type * as z from 'zod'
import { bundleScript } from './bundle-script.ts'
import { freshFolder } from './folder.ts'

/** Runs a script of this folder in a process of its own, and returns the JSON that it prints. */
export async function scriptResult<T>(
  name: string,
  order: object,
  result: z.ZodType<T>,
): Promise<T> {
  const script = await bundleScript(new URL(name, import.meta.url), await freshFolder())
  const args = ['--expose-gc', script, JSON.stringify(order)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return result.parse(JSON.parse(stdout))
}
