import { execFile } from 'node:child_process'
import { appendFile, chmod, mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { freshFolder } from '../../support/host/folder.ts'

const exec = promisify(execFile)

/** A repository whose files can make git start a program that leaves a mark. */
export interface HostileRepository {
  readonly path: string
  /** Outside the repository. */
  readonly elsewhere: string
  readonly git: (...args: readonly string[]) => Promise<string>
  /** Whether the program ran since the last call. */
  readonly marked: () => Promise<boolean>
}

/** One way to make git start a program, or read elsewhere. */
export interface GitAttack {
  readonly name: string
  /** A plain `git` with these arguments starts the program. */
  readonly args: readonly string[]
  /** In `.git/config`. MARK is the program, ELSEWHERE a folder outside. */
  readonly config: string
  readonly attributes?: string
  readonly prepare?: (repository: HostileRepository) => Promise<void>
}

const FILTERED = '*.txt filter=evil\n'
const DRIVEN = '*.txt diff=evil\n'

/** Removes the content of a.txt, so that git must fetch it. */
async function loseObject({ git, path }: HostileRepository): Promise<void> {
  const id = (await git('rev-parse', 'HEAD:a.txt')).trim()
  await rm(join(path, '.git/objects', id.slice(0, 2), id.slice(2)), { force: true })
}

function partialClone(url: string): string {
  return `[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = o\n[remote "o"]\nurl = ${url}\npromisor = true\nuploadpack = MARK\n[protocol "ext"]\nallow = always\n[protocol "file"]\nallow = always\n[core]\nsshCommand = MARK\n`
}

export const GIT_ATTACKS: readonly GitAttack[] = [
  { name: 'a file system monitor', args: ['status'], config: '[core]\nfsmonitor = MARK\n' },
  {
    name: 'a file system monitor, diff',
    args: ['diff', 'HEAD'],
    config: '[core]\nfsmonitor = MARK\n',
  },
  { name: 'an external diff', args: ['diff', 'HEAD'], config: '[diff]\nexternal = MARK\n' },
  {
    name: 'a diff driver',
    args: ['diff', 'HEAD'],
    config: '[diff "evil"]\ncommand = MARK\n',
    attributes: DRIVEN,
  },
  ...[
    ['diff', 'HEAD'],
    ['log', '-p'],
    ['show', 'HEAD'],
    ['blame', 'a.txt'],
  ].map((args): GitAttack => ({
    name: `text conversion, ${args.join(' ')}`,
    args,
    config: '[diff "evil"]\ntextconv = MARK\n',
    attributes: DRIVEN,
  })),
  ...[['diff', 'HEAD'], ['diff'], ['status'], ['status', '--short'], ['blame', 'a.txt']].map(
    (args): GitAttack => ({
      name: `a clean filter, ${args.join(' ')}`,
      args,
      config: '[filter "evil"]\nclean = MARK\nrequired = true\n',
      attributes: FILTERED,
    }),
  ),
  {
    name: 'a filter process',
    args: ['diff'],
    config: '[filter "evil"]\nprocess = MARK\nrequired = true\n',
    attributes: FILTERED,
  },
  {
    name: 'a filter in included settings, with a strange name',
    args: ['diff'],
    config: '[include]\npath = ../included\n',
    attributes: '*.txt filter=a.b\n',
    prepare: ({ path }) =>
      writeFile(join(path, 'included'), `[filter "a.b"]\nclean = ${markOf(path)}\n`),
  },
  {
    name: 'a filter in the settings of the worktree, for attributes of the git directory',
    args: ['diff'],
    config: '[core]\nrepositoryformatversion = 1\n[extensions]\nworktreeConfig = true\n',
    prepare: async ({ path }) => {
      await mkdir(join(path, '.git/info'), { recursive: true })
      await writeFile(join(path, '.git/info/attributes'), FILTERED)
      await writeFile(
        join(path, '.git/config.worktree'),
        `[filter "evil"]\nclean = ${markOf(path)}\n`,
      )
    },
  },
  {
    name: 'a filter without a name',
    args: ['diff'],
    config: '[filter ""]\nclean = MARK\n',
    attributes: '*.txt filter=\n',
  },
  {
    name: 'a filter whose name is not UTF-8',
    args: ['diff'],
    config: '',
    prepare: async ({ path }) => {
      const settings = `[filter "\xFF"]\nclean = ${markOf(path)}\n`
      await appendFile(join(path, '.git/config'), settings, 'latin1')
      await writeFile(join(path, '.gitattributes'), '*.txt filter=\xFF\n', 'latin1')
    },
  },
  {
    name: 'a hook',
    args: ['status'],
    config: '[core]\nhooksPath = hooks\n',
    prepare: async ({ path }) => {
      await mkdir(join(path, 'hooks'))
      await writeFile(join(path, 'hooks/post-index-change'), `#!/bin/sh\n${markOf(path)}\n`, {
        mode: 0o755,
      })
      // The same content with another time: git writes it to the index.
      await utimes(join(path, 'b.txt'), 1, 1)
    },
  },
  {
    name: 'a signature of a commit',
    args: ['log'],
    config: '[gpg]\nprogram = MARK\n[log]\nshowSignature = true\n',
    prepare: signHead,
  },
  {
    name: 'a signature by the default format',
    args: ['log'],
    config: '[gpg]\nprogram = MARK\n[format]\npretty = format:%G?\n',
    prepare: signHead,
  },
  ...['ext::MARK', 'ELSEWHERE', 'ssh://host/x'].flatMap((url) =>
    [
      ['show', 'HEAD:a.txt'],
      ['log', '-p'],
      ['diff', 'HEAD'],
    ].map((args): GitAttack => ({
      name: `a missing object of a partial clone, ${args.join(' ')}, from ${url}`,
      args,
      config: partialClone(url),
      prepare: loseObject,
    })),
  ),
  {
    name: 'the settings of a submodule',
    args: ['status'],
    config: '',
    prepare: async ({ git, path }) => {
      const inner = join(path, 'sub')
      await mkdir(inner)
      await exec('git', ['init', '-q', inner])
      await exec('git', [
        '-C',
        inner,
        '-c',
        'user.name=a',
        '-c',
        'user.email=a@b',
        'commit',
        '-qm',
        'c',
        '--allow-empty',
      ])
      await git('add', 'sub')
      await appendFile(join(inner, '.git/config'), `[core]\nfsmonitor = ${markOf(path)}\n`)
    },
  },
]

/** The program is beside the repository. */
function markOf(path: string): string {
  return join(dirname(path), 'beside/mark.sh')
}

async function signHead({ git, path }: HostileRepository): Promise<void> {
  const head = await git('cat-file', 'commit', 'HEAD')
  const signed = head.replace(
    '\n\n',
    '\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n',
  )
  await writeFile(join(path, 'signed'), signed)
  const id = (await git('hash-object', '-t', 'commit', '-w', 'signed')).trim()
  await git('update-ref', 'HEAD', id)
}

/** A repository with a commit, a change that is not committed, and the settings of the attack. */
export async function hostileRepository(attack: GitAttack): Promise<HostileRepository> {
  const root = await freshFolder()
  const [path, beside, elsewhere] = ['workspace', 'beside', 'elsewhere'].map((name) =>
    join(root, name),
  ) as [string, string, string]
  for (const folder of [path, beside, elsewhere]) await mkdir(folder)
  await writeFile(
    join(beside, 'mark.sh'),
    `#!/bin/sh\ntouch ${beside}/marked\necho STARTED\necho STARTED >&2\nexit 1\n`,
  )
  await chmod(join(beside, 'mark.sh'), 0o755)
  const env = { PATH: process.env['PATH'], HOME: beside, GIT_CONFIG_NOSYSTEM: '1' }
  const git = async (...args: readonly string[]) => {
    const names = ['-c', 'user.name=a', '-c', 'user.email=a@b']
    return (await exec('git', [...names, ...args], { cwd: path, env })).stdout
  }
  const repository: HostileRepository = {
    path,
    elsewhere,
    git,
    marked: async () => {
      const found = (await readdir(beside)).includes('marked')
      await rm(join(beside, 'marked'), { force: true })
      return found
    },
  }
  await git('init', '-q')
  for (const name of ['a.txt', 'b.txt']) await writeFile(join(path, name), 'one\n')
  await git('add', '.')
  await git('commit', '-qm', 'first')
  await attack.prepare?.(repository)
  await writeFile(join(path, 'a.txt'), 'two\n')
  if (attack.attributes !== undefined)
    await writeFile(join(path, '.gitattributes'), attack.attributes)
  const config = attack.config
    .replaceAll('MARK', join(beside, 'mark.sh'))
    .replaceAll('ELSEWHERE', elsewhere)
  await appendFile(join(path, '.git/config'), config)
  await repository.marked()
  return repository
}
