import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sha256 } from '../../../src/encoding/hash.ts'

const MADE_AT = '/tmp/hawser-made/workspace'
const FILES = new URL('../../formats/shared-records/files.json', import.meta.url)

/** The Sessions of that home: of the person, and of the conversations of the Instance. */
export const MADE = {
  instance: 'ins_01m7pg0dd5tjsjxhf1fth0shbt',
  person: 'ses_01m7pg0cv9pc32v32r70y9c178',
  one: 'ses_01m7pg0k04k1baz4gbs6qm0838',
  two: 'ses_01m7pg0ka0xfg6jrj3mwcpb1zw',
  /** An image that both have, and one that only the Instance has. */
  shared: '9f8338553acc8591891213f42b9ff81aa475f2e5f8194f2a310ab95cad7f7029.png',
  own: '5a609407b64be929acd00d41a1a2da3605cc24c3b2db378136074dcc6cacc887.png',
} as const

/** Every file of the home and the workspace, by its path; see test/formats/shared-records. */
export async function madeFiles(): Promise<ReadonlyMap<string, Buffer>> {
  const stored = JSON.parse(await readFile(FILES, 'utf8')) as Record<string, string>
  return new Map(
    Object.entries(stored).map(([path, content]) => {
      const at = content.indexOf(':')
      const [encoding, text] = [content.slice(0, at), content.slice(at + 1)]
      return [path, Buffer.from(text, encoding === 'base64' ? 'base64' : 'utf8')]
    }),
  )
}

/** Writes that home to `root/home` and its workspace to `root/workspace`. */
export async function restoreMadeHome(root: string): Promise<void> {
  const workspace = join(root, 'workspace')
  for (const [path, bytes] of await madeFiles()) {
    const at = join(root, path.replaceAll(keyOf(MADE_AT), keyOf(workspace)))
    await mkdir(dirname(at), { recursive: true, mode: 0o700 })
    await writeFile(at, relocated(path, bytes, workspace), { mode: 0o600 })
  }
}

function keyOf(workspace: string): string {
  return sha256(workspace).slice(0, 32)
}

function relocated(path: string, bytes: Buffer, workspace: string): Buffer {
  const moved = () => Buffer.from(bytes.toString().replaceAll(MADE_AT, workspace))
  if (path.includes('/workspaces/')) return moved()
  if (!path.endsWith('/register.json')) return bytes
  const text = moved().subarray(65)
  return Buffer.concat([Buffer.from(`${sha256(text)}\n`), text])
}
