import { execFile } from 'node:child_process'
import { copyFile, cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { freshFolder } from '../support/host/folder.ts'

const ROOT = resolve(import.meta.dirname, '../..')

test('the unchanged model builds', async () => {
  expect(await offendingLines(await copyOf('model'))).toEqual([])
})

test('a new error kind stops the build at the exit codes', async () => {
  const folder = await copyOf('model')
  await edit(folder, 'errors.ts', "  'internal',\n", "  'internal',\n  'added',\n")
  expect(await offendingLines(folder)).toContainEqual(
    expect.stringContaining('satisfies Record<ErrorKind, number>'),
  )
})

test('a new Event type stops the build at its durability', async () => {
  const folder = await copyOf('model')
  await addEventType(folder)
  expect(await offendingLines(folder)).toContainEqual(
    expect.stringContaining('satisfies Record<EventType, '),
  )
})

test('a new Event type stops the build at the folds that decide request bytes', async () => {
  const folder = await copyOf('encoding', 'model', 'prompt', 'history')
  expect(await offendingLines(folder)).toEqual([])
  await addEventType(folder)
  expect((await offendingFiles(folder)).filter((path) => path.startsWith('history/'))).toEqual([
    'history/conversation.ts',
    'history/results/event-notices.ts',
    'history/transients.ts',
  ])
})

test('a new Event type stops the build until every face has decided about it [AR-010]', async () => {
  const folder = await copyOf(...(await readdir(join(ROOT, 'src'))))
  await addEventType(folder)
  expect(await offendingFiles(folder)).toEqual(
    expect.arrayContaining([
      'history/results/event-notices.ts',
      'presenters/acp/translate.ts',
      'presenters/cli/chat/translate.ts',
      'presenters/cli/export/blocks.ts',
      'presenters/cli/render/event-essence.ts',
      'presenters/http/translate-updates.ts',
    ]),
  )
})

test('a new frame stops the build at its direction', async () => {
  const folder = await copyOf('model')
  const last = "  storedFrame('status.pong', Nothing),\n"
  await edit(folder, 'tether/frame.ts', last, `${last}  storedFrame('status.added', Nothing),\n`)
  expect(await offendingLines(folder)).toContainEqual(
    expect.stringContaining('satisfies Record<FrameType, '),
  )
})

/** Folders of src without tests, with what the compiler needs to check them. */
async function copyOf(...folders: readonly string[]): Promise<string> {
  const folder = await freshFolder()
  await copyFile(join(ROOT, 'package.json'), join(folder, 'package.json'))
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  for (const name of folders) {
    const filter = (path: string) => !path.endsWith('.test.ts')
    await cp(join(ROOT, 'src', name), join(folder, name), { recursive: true, filter })
  }
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: { rootDir: '.' },
    include: folders,
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  return folder
}

async function addEventType(folder: string): Promise<void> {
  const last = '  turn_ended: TurnEnded,\n'
  await edit(folder, 'events/event.ts', last, `${last}  added: TurnEnded,\n`)
}

async function edit(folder: string, name: string, from: string, to: string): Promise<void> {
  const path = join(folder, 'model', name)
  const text = await readFile(path, 'utf8')
  expect(text.split(from)).toHaveLength(2)
  await writeFile(path, text.replace(from, to))
}

/** The source lines with compiler errors. */
async function offendingLines(folder: string): Promise<string[]> {
  return Promise.all(
    (await objections(folder)).map(async ({ path, line }) => {
      const text = await readFile(resolve(folder, path), 'utf8')
      return text.split('\n')[line - 1] ?? ''
    }),
  )
}

async function offendingFiles(folder: string): Promise<string[]> {
  return [...new Set((await objections(folder)).map(({ path }) => path))].toSorted()
}

async function objections(folder: string): Promise<{ path: string; line: number }[]> {
  const places = (await compilerOutput(folder)).matchAll(/^(\S+\.ts)\((\d+),\d+\): error /gm)
  return [...places].map(([, path = '', line]) => ({ path, line: Number(line) }))
}

async function compilerOutput(folder: string): Promise<string> {
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  try {
    await promisify(execFile)(tsc, ['--noEmit', '--pretty', 'false', '-p', folder], { cwd: folder })
    return ''
  } catch (error) {
    // A compiler that did not run at all gives no result.
    if (!(error instanceof Error && 'stdout' in error && String(error.stdout).includes('error TS')))
      throw error
    return String(error.stdout)
  }
}
