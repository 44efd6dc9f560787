import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { openRehearsal } from '../../support/providers/rehearsal-server.ts'
import { executedLines } from './executed-lines.ts'
import { pageOffences, stepsOf, turnPageIn } from './page.ts'

const ROOT = new URL('../../../', import.meta.url)
const PAGE = 'docs/architecture.md'

test('docs/architecture.md names the files that a Turn with one read runs, and no other', async () => {
  const executed = await linesOfTurn()
  const page = turnPageIn(textAt(PAGE))
  const files = stepsOf(executed)
  console.log(
    `${files.length} files of a Turn ran over 25 lines; ${PAGE} lists ${page.steps.length} as steps`,
  )
  // The whole list, so that a page that is wrong can be corrected at once.
  expect(
    pageOffences(page, executed),
    files.map(([path, lines]) => `${lines} ${path}`).join('\n'),
  ).toEqual([])
})

/** Runs the program from its source in a process, with a model of Anthropic that a server on this machine plays. */
async function linesOfTurn(): Promise<Map<string, Set<number>>> {
  const root = await freshFolder()
  const [workspace, out] = [join(root, 'workspace'), join(root, 'coverage')]
  await mkdir(workspace)
  await writeFile(join(workspace, 'notes.txt'), 'rope and sail\n')
  const vendor = await openRehearsal()
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
  const program = fileURLToPath(new URL('bin/hawser.ts', ROOT))
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--enable-source-maps', '--import', tsx, program, 'run', 'Read notes.txt'],
    {
      cwd: workspace,
      env: {
        PATH: process.env['PATH'],
        HAWSER_HOME: join(root, 'home'),
        HAWSER_PROVIDER: 'anthropic',
        ANTHROPIC_API_KEY: CANARY_KEY,
        ANTHROPIC_BASE_URL: vendor.baseUrl('messages'),
        NODE_V8_COVERAGE: out,
        TSX_TSCONFIG_PATH: fileURLToPath(new URL('tsconfig.json', ROOT)),
      },
    },
  )
  expect(stdout).toContain('rope and sail')
  expect(vendor.requests.length).toBe(2)
  const executed = new Map<string, Set<number>>()
  for (const name of await readdir(out)) {
    const report: unknown = JSON.parse(await readFile(join(out, name), 'utf8'))
    for (const [path, lines] of executedLines(report, ROOT.href, textAt))
      executed.set(path, new Set([...(executed.get(path) ?? []), ...lines]))
  }
  return executed
}

function textAt(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8')
}
