import { diskFolder } from '../files/disk.ts'
import { closing, ifThere, readSpan, type Folder } from '../files/files.ts'

/** The built app for browsers. */
export interface AppFiles {
  /**
   * A file by its name, such as `index.html` or `assets/index-1.js`; `undefined` if the app does not have it. All are read at
   * the first request and stay, so that a page never gets parts of two versions.
   */
  file(name: string): Promise<AppFile | undefined>
}

export interface AppFile {
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=UTF-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

const MOST_BYTES = 8 * 1024 * 1024
const ASSETS = 'assets'

/** `path` is the folder of the app, which may be missing. */
export function appFiles(path: string): AppFiles {
  let reading: Promise<ReadonlyMap<string, AppFile>> | undefined
  return {
    file: async (name) => {
      reading ??= readAll(path)
      const files = await reading
      if (files.size === 0) reading = undefined
      return files.get(name)
    },
  }
}

async function readAll(path: string): Promise<ReadonlyMap<string, AppFile>> {
  const files = new Map<string, AppFile>()
  const root = await ifThere(diskFolder(path))
  if (root === undefined) return files
  await closing(root, async () => {
    await readFolder(root, '', files)
    const assets = await ifThere(root.folder(ASSETS, 'open'))
    if (assets !== undefined) await closing(assets, () => readFolder(assets, `${ASSETS}/`, files))
  })
  return files
}

async function readFolder(
  folder: Folder,
  prefix: string,
  files: Map<string, AppFile>,
): Promise<void> {
  for (const name of await folder.names()) {
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
    if (type === undefined) continue
    const file = await folder.open(name, 'read')
    const bytes = await closing(file, () => readSpan(file, 0, MOST_BYTES))
    files.set(prefix + name, { type, bytes: new Uint8Array(bytes) })
  }
}
