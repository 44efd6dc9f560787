import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { readTree } from '../structure/tree.ts'
import { relatedTests, testsWithin } from './related-tests.ts'

const HELP = `Usage: npm run test:related -- [--base REF] [--seconds N]

Runs the tests of what changed since the branch left REF (default: main), committed or not, and the structure tests.
The nearest tests by imports run first; those that do not fit into N seconds (default: 25) are counted, not run.

  --base REF    the branch to compare with
  --seconds N   how long the tests may take, estimated from earlier runs`

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const STRUCTURE = 'test/structure'
const WORKERS = 2

const Durations = z.object({
  results: z.array(z.tuple([z.string(), z.object({ duration: z.number() })])),
})

await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) return print(HELP)
  const changed = changedSince(valueOf(args, '--base') ?? 'main')
  const related = relatedTests(await readTree(), changed).filter(
    ({ path }) => !path.startsWith(`${STRUCTURE}/`),
  )
  const durations = earlierDurations()
  const seconds = Number(valueOf(args, '--seconds') ?? 25)
  const files = testsWithin(related, seconds, { workers: WORKERS, durations })
  print(
    `${changed.length} files changed; ${files.length} of ${related.length} related test files run, and ${STRUCTURE}`,
  )
  const vitest = join(ROOT, 'node_modules', '.bin', 'vitest')
  const { status } = spawnSync(vitest, ['run', STRUCTURE, ...files], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  if (files.length < related.length)
    print(`not run: ${related.length - files.length} related test files; npm test runs all`)
  process.exitCode = status ?? 1
}

/** Paths that differ from the commit at which the branch left `base`, and new files that git does not ignore. */
function changedSince(base: string): string[] {
  const start = git('merge-base', base, 'HEAD').trim()
  return [
    ...new Set([
      ...git('diff', '--name-only', '--diff-filter=d', '-z', start).split('\0'),
      ...git('ls-files', '--others', '--exclude-standard', '-z').split('\0'),
    ]),
  ].filter((path) => path !== '')
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' })
}

/** Seconds by path, from the cache of vitest. A fresh clone has none. */
function earlierDurations(): Map<string, number> {
  const folder = join(ROOT, 'node_modules', '.vite', 'vitest')
  if (!existsSync(folder)) return new Map()
  return new Map(
    readdirSync(folder).flatMap((name) => {
      const text = readFileSync(join(folder, name, 'results.json'), 'utf8')
      const { results } = Durations.parse(JSON.parse(text))
      return results.map(([path, { duration }]): [string, number] => [
        path.replace(/^:/, ''),
        duration / 1000,
      ])
    }),
  )
}

function valueOf(args: readonly string[], name: string): string | undefined {
  const at = args.indexOf(name)
  return at === -1 ? undefined : args[at + 1]
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
