import { execFile } from 'node:child_process'
import { copyFile, cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { freshFolder } from '../support/folder.ts'

const ROOT = resolve(import.meta.dirname, '../..')

test('the model as it is builds', async () => {
  expect(await offendingLines(await modelCopy())).toEqual([])
})

test('an error kind that is added stops the build at the exit codes', async () => {
  const folder = await modelCopy()
  await edit(folder, 'errors.ts', "  'internal',\n", "  'internal',\n  'added',\n")
  expect(await offendingLines(folder)).toContainEqual(
    expect.stringContaining('satisfies Record<ErrorKind, number>'),
  )
})

test('an Event that is added stops the build at its durability', async () => {
  const folder = await modelCopy()
  const last = '  turn_ended: TurnEnded,\n'
  await edit(folder, 'events/event.ts', last, `${last}  added: TurnEnded,\n`)
  expect(await offendingLines(folder)).toContainEqual(
    expect.stringContaining('satisfies Record<EventType, '),
  )
})

test('a frame that is added stops the build at its direction', async () => {
  const folder = await modelCopy()
  const last = "  frame('status.pong', Nothing),\n"
  await edit(folder, 'frame.ts', last, `${last}  frame('status.added', Nothing),\n`)
  expect(await offendingLines(folder)).toContainEqual(
    expect.stringContaining('satisfies Record<FrameType, '),
  )
})

async function modelCopy(): Promise<string> {
  const folder = await freshFolder()
  await copyFile(join(ROOT, 'package.json'), join(folder, 'package.json'))
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  await cp(join(ROOT, 'src/model'), join(folder, 'model'), {
    recursive: true,
    filter: (path) => !path.endsWith('.test.ts'),
  })
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: { rootDir: '.' },
    include: ['model'],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  return folder
}

async function edit(folder: string, name: string, from: string, to: string): Promise<void> {
  const path = join(folder, 'model', name)
  const text = await readFile(path, 'utf8')
  expect(text.split(from)).toHaveLength(2)
  await writeFile(path, text.replace(from, to))
}

/** The source lines that the compiler objects to. */
async function offendingLines(folder: string): Promise<string[]> {
  const output = await compilerOutput(folder)
  const places = [...output.matchAll(/^(\S+\.ts)\((\d+),\d+\): error /gm)]
  return Promise.all(
    places.map(async ([, path = '', line]) => {
      const text = await readFile(resolve(folder, path), 'utf8')
      return text.split('\n')[Number(line) - 1] ?? ''
    }),
  )
}

async function compilerOutput(folder: string): Promise<string> {
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  try {
    await promisify(execFile)(tsc, ['--noEmit', '--pretty', 'false', '-p', folder], { cwd: folder })
    return ''
  } catch (error) {
    // A compiler that did not run at all is no verdict.
    if (!(error instanceof Error && 'stdout' in error && String(error.stdout).includes('error TS')))
      throw error
    return String(error.stdout)
  }
}
