import { execFile } from 'node:child_process'
import { appendFile, chmod, lstat, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import {
  CREDENTIALS_AT_HOME,
  CREDENTIALS_OF_THE_SYSTEM,
} from '../../../src/model/safety/credentials.ts'
import { TOOLCHAINS } from '../../../src/model/safety/toolchains.ts'
import type { RootAttack, RootScene } from './root-attack.ts'

/** Every entry of the tables of credentials, read from workspaces in different locations relative to the home directory. */
export const CREDENTIAL_ATTACKS: readonly RootAttack[] = [
  ...(['workspace', 'nothing'] as const).flatMap((writable) =>
    Object.entries(PLACES()).map(([where, at]): RootAttack => ({
      name: `find a credential of the tables from a workspace ${where}, ${writable} writable`,
      run: async (scene) => {
        const output = await search(scene, at(scene), writable)
        return leaked(scene, output)
      },
    })),
  ),
  {
    name: 'find what is in no table, in a home that does not contain the workspace',
    run: async (scene) => {
      const output = await search(scene, join(scene.person, 'projects/ws'), 'workspace')
      return /unlisted-\w+/.exec(output)?.[0]
    },
  },
  {
    name: 'move folders with credentials in the first command, and read them in the second',
    run: async (scene) => {
      const folders = [...new Set(CREDENTIALS_AT_HOME.map(({ path }) => path.split('/')[0] ?? ''))]
      const moves = folders.map((name) => `mv '${name}' 'moved-${name}' 2>/dev/null`).join('\n')
      await scene.sh(scene.person, `${moves}\nmkdir new; mv .config/* .local/share/* new/`)
      const output = await search(scene, scene.person, 'workspace')
      for (const name of await readdir(scene.person)) {
        if (name.startsWith('moved-')) {
          await rename(join(scene.person, name), join(scene.person, name.slice(6)))
        }
      }
      return leaked(scene, output)
    },
  },
  {
    name: 'control: without an allow-list every entry of the tables is found',
    run: async (scene) => {
      const args = ['--ro-bind', '/', '/', '--dev', '/dev', 'sh', '-c', searching(scene)]
      const options = { maxBuffer: 64 * 1024 * 1024 }
      const { stdout } = await promisify(execFile)('bwrap', args, options)
      const missed = scene.canaries.filter((canary) => !stdout.includes(canary))
      return missed.length === 0 ? undefined : `it did not find ${missed.join(' ')}`
    },
  },
]

function PLACES(): Readonly<Record<string, (scene: RootScene) => string>> {
  return {
    'outside the home': ({ root }) => join(root, 'ws'),
    'below the home': ({ person }) => join(person, 'projects/ws'),
    'that is the home': ({ person }) => person,
    'that contains the home': ({ root }) => root,
  }
}

async function search(
  scene: RootScene,
  workspace: string,
  writable: 'workspace' | 'nothing',
): Promise<string> {
  await mkdir(workspace, { recursive: true })
  const more = { writable, readable: [join(scene.root, 'allowed')] }
  return (await scene.sh(workspace, searching(scene), more)).output
}

function searching({ root }: RootScene): string {
  return `grep -rhoasE '(canary|unlisted)-[a-z0-9-]+' ${root} /etc /root /home /srv /run; env; git config --list`
}

function leaked({ canaries }: RootScene, output: string): string | undefined {
  const found = canaries.filter((canary) => output.includes(canary))
  return found.length === 0 ? undefined : `it found ${found.join(' ')}`
}

/**
 * A home with every entry of the table, each with its own content; toolchains, two of them elsewhere; a folder that
 * the person allowed, with a home's credentials below it; and files that no table lists.
 */
export async function plantCredentials(root: string, person: string): Promise<readonly string[]> {
  const canaries: string[] = []
  const plant = async (path: string, isFolder: boolean, words: string) => {
    const canary = `canary-${canaries.length}-x`
    const at = isFolder ? join(path, 'secret') : path
    await mkdir(dirname(at), { recursive: true })
    await writeFile(at, `${words}${canary}\n`, { mode: 0o644 })
    canaries.push(canary)
  }
  for (const { folder } of TOOLCHAINS) await mkdir(join(person, folder), { recursive: true })
  for (const [at, { path, mentions }] of CREDENTIALS_AT_HOME.entries()) {
    const there = await lstat(join(person, path)).catch(() => undefined)
    const holdsOthers = CREDENTIALS_AT_HOME.some((other) => other.path.startsWith(`${path}/`))
    const isOdd = at % 2 === 0 && mentions === undefined
    const isFolder = there?.isDirectory() === true || holdsOthers || isOdd
    await plant(join(person, path), isFolder, mentions === undefined ? '' : '# token = ')
  }
  await plant(join(root, 'cargo/credentials.toml'), false, '')
  await plant(join(root, 'pub/credentials.json'), false, '')
  await mkdir(join(root, 'allowed'), { recursive: true })
  for (const [name, words] of Object.entries({ 'Documents/letter': 'letter', '.notes': 'notes' })) {
    await mkdir(join(person, name, '..'), { recursive: true })
    await writeFile(join(person, name), `unlisted-${words}\n`)
  }
  await appendFile(
    join(person, '.gitconfig'),
    `\n[user]\nname = P\nemail = p@example.org\n[http]\nextraHeader = canary-git-header\n[url "https://canary-git-user@x/"]\ninsteadOf = https://x/\n[credential]\nhelper = store --file canary-git-file\n`,
  )
  return [...canaries, 'canary-git-header', 'canary-git-user', 'canary-git-file']
}

/** In an /etc that only this process and its children see. */
export async function plantSystemCredentials(): Promise<readonly string[]> {
  const canaries: string[] = []
  for (const [at, { path }] of CREDENTIALS_OF_THE_SYSTEM.entries()) {
    const real = path.replace('*', 'ed25519')
    const there = await lstat(real).catch(() => undefined)
    const canary = `canary-system-${at}-x`
    const isFolder = there?.isDirectory() === true || (there === undefined && at % 2 === 0)
    const file = isFolder ? join(real, 'secret') : real
    await mkdir(dirname(file), { recursive: true })
    await rm(file, { force: true })
    await writeFile(file, canary)
    await chmod(file, 0o644)
    if (isFolder) await chmod(real, 0o755)
    canaries.push(canary)
  }
  return canaries
}

/** A file that no table lists and only its owner may read: only root finds it. */
export async function plantClosed(): Promise<readonly string[]> {
  await writeFile('/etc/of-no-table.key', 'canary-closed-file', { mode: 0o600 })
  await mkdir('/etc/of-no-table.d', { mode: 0o700 })
  await writeFile('/etc/of-no-table.d/key', 'canary-closed-folder', { mode: 0o644 })
  return ['canary-closed-file', 'canary-closed-folder']
}
