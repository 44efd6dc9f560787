import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { systemProgram } from './system-program.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** Node cannot create a pipe, and starting `mkfifo` takes as long as a short command. So it creates several at once. */
const AT_ONCE = 16
/** With fewer left, more are created while a command runs. */
const FEW = 4

let folder: string | undefined
let created = 0
const stock: string[] = []
let making: Promise<void> | undefined

/**
 * The path of a named pipe that nothing has opened yet, in a folder that only this user can enter. Each is handed out once;
 * the caller removes it. A process has one such folder. It removes the folder when it ends, and a later process does if it
 * was killed.
 */
export async function takeNamedPipe(): Promise<string> {
  for (;;) {
    const path = stock.pop()
    if (stock.length < FEW) {
      const more = makeMore()
      if (path === undefined) await more
      else more.catch(() => {})
    }
    // Systems delete old files in their temporary folder, also those of a server that runs for weeks.
    if (path !== undefined && (await isNamedPipe(path))) return path
  }
}

async function isNamedPipe(path: string): Promise<boolean> {
  const facts = await lstat(path).catch(() => undefined)
  return facts?.isFIFO() === true
}

function makeMore(): Promise<void> {
  making ??= make().finally(() => {
    making = undefined
  })
  return making
}

async function make(): Promise<void> {
  const mkfifo = (await systemProgram('mkfifo')) ?? 'mkfifo'
  const parent = await ownFolder()
  const paths = Array.from({ length: AT_ONCE }, () => join(parent, String(created++)))
  await promisify(execFile)(mkfifo, ['-m', '600', ...paths], { env: {} })
  stock.unshift(...paths)
}

async function ownFolder(): Promise<string> {
  const facts = folder === undefined ? undefined : await lstat(folder).catch(() => undefined)
  if (folder !== undefined && facts?.isDirectory() === true) return folder
  if (folder === undefined) process.on('exit', removeFolder)
  folder = await temporaryFolder('pipe')
  return folder
}

function removeFolder(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
}
