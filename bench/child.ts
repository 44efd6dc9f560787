import { execFile } from 'node:child_process'
import process from 'node:process'
import { promisify } from 'node:util'
import * as z from 'zod'

const Numbers = z.record(z.string(), z.number())

/** The numbers of one measurement, by name. */
export type Measured = (name: string) => number

/** Runs a bundled script in a separate process; the script prints one JSON object of numbers. */
export async function measureIn(program: string, args: readonly string[]): Promise<Measured> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args])
  const numbers = Numbers.parse(JSON.parse(stdout))
  return (name) => {
    const number = numbers[name]
    if (number === undefined) throw new Error(`${program} did not report ${name}`)
    return number
  }
}
