import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sha256 } from '../../../src/encoding/hash.ts'

/** Where every stored home and its workspace were made: the folders `home` and `workspace` in it. */
export const MADE_IN = '/tmp/hawser-made'

const MADE_AT = `${MADE_IN}/workspace`

/** Every file of the home and the workspace of a format, by its path; see test/formats. */
export async function storedFiles(format: string): Promise<ReadonlyMap<string, Buffer>> {
  const path = new URL(`../../formats/${format}/files.json`, import.meta.url)
  const stored = JSON.parse(await readFile(path, 'utf8')) as Record<string, string>
  return new Map(
    Object.entries(stored).map(([name, content]) => {
      const at = content.indexOf(':')
      const [encoding, text] = [content.slice(0, at), content.slice(at + 1)]
      return [name, Buffer.from(text, encoding === 'base64' ? 'base64' : 'utf8')]
    }),
  )
}

/** Writes that home to `root/home` and its workspace to `root/workspace`. */
export async function restoreHome(format: string, root: string): Promise<void> {
  const workspace = join(root, 'workspace')
  await mkdir(workspace, { recursive: true, mode: 0o700 })
  const { dev, ino, birthtimeNs } = await stat(workspace, { bigint: true })
  const identity = `"dev":"${dev}","ino":"${ino}","born":"${birthtimeNs}"`
  for (const [path, bytes] of await storedFiles(format)) {
    const at = join(root, path.replaceAll(keyOf(MADE_AT), keyOf(workspace)))
    await mkdir(dirname(at), { recursive: true, mode: 0o700 })
    await writeFile(at, relocated(path, bytes, { workspace, identity }), { mode: 0o600 })
  }
}

function keyOf(workspace: string): string {
  return sha256(workspace).slice(0, 32)
}

/** What a home says about the folder of a workspace is about the new one, as if it had always been there. */
function relocated(
  path: string,
  bytes: Buffer,
  { workspace, identity }: { readonly workspace: string; readonly identity: string },
): Buffer {
  const moved = () =>
    Buffer.from(
      bytes
        .toString()
        .replaceAll(MADE_AT, workspace)
        .replaceAll(/"dev":"\d+","ino":"\d+","born":"\d+"/g, identity),
    )
  if (path.includes('/workspaces/')) return moved()
  if (!path.endsWith('/register.json')) return bytes
  const text = moved().subarray(65)
  return Buffer.concat([Buffer.from(`${sha256(text)}\n`), text])
}
