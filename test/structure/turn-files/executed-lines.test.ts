import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { executedLines } from './executed-lines.ts'

const SCRIPT = `import { sep } from 'node:path'

interface Step {
  readonly name: string
}

const TABLE = [1, 2, 3].map(
  (number) => number * 2,
)

// A comment.
function called(step: Step): string {
  // The reason.
  const { name } = step
  if (name === 'left') {
    return sep + name
  }
  return [name].map((one) => one + sep)
    .join()
}

function never(step: Step): string {
  return step.name
}

const later = never
if (TABLE.length > 5) later({ name: 'x' })
called({ name: 'left' })
`

test('the lines of called functions count, and nothing else', async () => {
  const folder = await freshFolder()
  await mkdir(join(folder, 'out'))
  await writeFile(join(folder, 'step.mts'), SCRIPT)
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
  await promisify(execFile)(
    process.execPath,
    ['--enable-source-maps', '--import', tsx, join(folder, 'step.mts')],
    { env: { ...process.env, NODE_V8_COVERAGE: join(folder, 'out') } },
  )
  const root = `${pathToFileURL(folder).href}/`
  const executed = new Map<string, Set<number>>()
  for (const name of await readdir(join(folder, 'out'))) {
    const report: unknown = JSON.parse(await readFile(join(folder, 'out', name), 'utf8'))
    for (const [path, lines] of executedLines(report, root, () => SCRIPT)) executed.set(path, lines)
  }
  const lines = SCRIPT.split('\n')
  expect([...(executed.get('step.mts') ?? [])].map((line) => lines[line - 1])).toEqual([
    '  (number) => number * 2,',
    'function called(step: Step): string {',
    '  const { name } = step',
    "  if (name === 'left') {",
    '    return sep + name',
  ])
})
