import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, link, mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { AttachmentCode } from '../../../src/model/attachment.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'

/** The content of every file that must not be read; showing it is a leak. */
export const CANARY = 'canary-9b1e'

/** A path below the scene, and the expected result if a person attaches it, and if a restricted caller does. */
export interface AttachmentCase {
  readonly path: string
  readonly person: AttachmentCode | 'taken'
  readonly confined: AttachmentCode | 'taken'
  /** Given if the reason matters. */
  readonly reason?: RegExp
  /** Only if device files exist, or if the system refuses anything to this user. */
  readonly needs?: 'devices' | 'rights'
}

const both = (answer: AttachmentCode | 'taken') => ({ person: answer, confined: answer })

/** `{ws}` is the workspace. */
export const ATTACHMENT_CASES: readonly AttachmentCase[] = [
  { path: '{ws}/good.png', ...both('taken') },
  { path: '{ws}/deep/good.md', ...both('taken') },
  { path: '{ws}/no.png', ...both('not_found') },
  { path: '{ws}/no/good.png', ...both('not_found') },
  { path: '{ws}/good.png/a.png', ...both('not_found') },
  { path: '{ws}/folder.png', ...both('not_regular_file'), reason: /a folder/ },
  { path: '{ws}/folder.png/', ...both('not_regular_file'), reason: /a folder/ },
  { path: '{ws}/pipe.png', ...both('not_regular_file'), reason: /a named pipe/ },
  { path: '{ws}/socket.png', ...both('not_regular_file'), reason: /a socket/ },
  { path: '{ws}/zero.png', ...both('not_regular_file'), reason: /a device/, needs: 'devices' },
  { path: '{ws}/block.png', ...both('not_regular_file'), needs: 'devices' },
  { path: '{ws}/leaf-in.png', ...both('symlink') },
  { path: '{ws}/leaf-out.txt', ...both('symlink') },
  { path: '{ws}/leaf-nowhere.png', ...both('symlink') },
  { path: '{ws}/leaf-self.png', ...both('symlink') },
  { path: '{ws}/leaf-pipe.png', ...both('symlink') },
  { path: '{ws}/leaf-environ.txt', ...both('symlink') },
  { path: '{ws}/way-in/good.md', person: 'taken', confined: 'symlink' },
  { path: '{ws}/deep/../deep/./good.md', ...both('taken') },
  { path: '{ws}/way-out/secret.txt', person: 'taken', confined: 'outside_workspace' },
  { path: '{ws}/../secret.txt', person: 'taken', confined: 'outside_workspace' },
  { path: '{ws}/.hawser/own.txt', person: 'taken', confined: 'outside_workspace' },
  { path: '{ws}/hard-out.txt', person: 'taken', confined: 'hard_link' },
  { path: '{ws}/hard-in.png', person: 'taken', confined: 'hard_link' },
  { path: '{ws}/closed.txt', ...both('unreadable'), needs: 'rights' },
  { path: '{ws}/closed/in.txt', ...both('unreadable'), needs: 'rights' },
  { path: '{ws}/a.PNG.exe', ...both('unsupported_type') },
  { path: '{ws}/a.svg', ...both('unsupported_type') },
  { path: '{ws}/html.png', ...both('type_mismatch'), reason: /an HTML page/ },
  { path: '{ws}/empty.png', ...both('empty') },
  { path: '{ws}/large.txt', ...both('too_large') },
  { path: '{ws}/a\0.png', ...both('invalid_name') },
  { path: '{ws}/a\u202egnp.png', ...both('invalid_name') },
  { path: '{ws}/a\n.png', ...both('invalid_name') },
  { path: `{ws}/${'a'.repeat(252)}.png`, ...both('invalid_name') },
  { path: `{ws}/${'a'.repeat(4_996)}.png`, ...both('invalid_name') },
  { path: `{ws}/${'d/'.repeat(2_100)}a.png`, ...both('invalid_name') },
  { path: `{ws}/${'d'.repeat(300)}/a.png`, ...both('invalid_name') },
  { path: '/dev/zero', ...both('unsupported_type') },
  { path: '/proc/self/environ', ...both('unsupported_type') },
]

export interface AttachmentScene {
  readonly workspace: string
  readonly devices: boolean
}

/** A workspace full of files that cannot be attached, with secrets around it. */
export async function buildAttachmentScene(base: string): Promise<AttachmentScene> {
  const workspace = join(base, 'ws')
  const at = (name: string) => join(workspace, name)
  for (const folder of ['deep', 'folder.png', '.hawser', 'closed']) {
    await mkdir(at(folder), { recursive: true })
  }
  for (const secret of ['../secret.txt', '.hawser/own.txt', 'closed.txt', 'closed/in.txt'])
    await writeFile(at(secret), CANARY)
  await writeFile(at('good.png'), TINY_IMAGES.png)
  await writeFile(at('twin.png'), TINY_IMAGES.png)
  await writeFile(at('deep/good.md'), '# Good\n')
  await writeFile(at('a.PNG.exe'), TINY_IMAGES.png)
  await writeFile(at('a.svg'), '<svg/>')
  await writeFile(at('html.png'), '<!doctype html>')
  await writeFile(at('empty.png'), '')
  await writeFile(at('large.txt'), Buffer.alloc(11 * 1024 * 1024, 'a'))
  for (const [name, target] of Object.entries(LINKS)) await symlink(target, at(name))
  await link(at('../secret.txt'), at('hard-out.txt'))
  await link(at('twin.png'), at('hard-in.png'))
  execFileSync('mkfifo', [at('pipe.png')])
  await makeSocket(at('socket.png'))
  const devices = process.getuid?.() === 0 && makeDevices(workspace)
  await chmod(at('closed.txt'), 0)
  await chmod(at('closed'), 0)
  return { workspace, devices }
}

const LINKS = {
  'leaf-in.png': 'good.png',
  'leaf-out.txt': '../secret.txt',
  'leaf-nowhere.png': 'nowhere.png',
  'leaf-self.png': 'leaf-self.png',
  'leaf-pipe.png': 'pipe.png',
  'leaf-environ.txt': '/proc/self/environ',
  'way-in': 'deep',
  'way-out': '..',
}

/** A socket without a listener. It is renamed, because closing a listener removes its name. */
async function makeSocket(path: string): Promise<void> {
  const server = createServer().listen(`${path}-1`)
  await once(server, 'listening')
  await rename(`${path}-1`, path)
  await once(server.close(), 'close')
}

function makeDevices(workspace: string): boolean {
  try {
    execFileSync('mknod', [join(workspace, 'zero.png'), 'c', '1', '5'], { stdio: 'ignore' })
    execFileSync('mknod', [join(workspace, 'block.png'), 'b', '7', '0'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
