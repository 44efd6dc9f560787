import type { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import type { join } from 'node:path'
import type { Confinement } from '../../../src/host/sandbox/sandbox.ts'

interface Tools {
  readonly mkdir: typeof mkdir
  readonly rename: typeof rename
  readonly rm: typeof rm
  readonly symlink: typeof symlink
  readonly writeFile: typeof writeFile
  readonly join: typeof join
  /** Listens on a socket until the process ends. */
  readonly listen: (path: string) => Promise<void>
}

interface Places {
  readonly workspace: string
  /** Readable in the sandbox. */
  readonly shown: string
  readonly folder: string
}

/** Something that happens between preparing a sandbox and its command. */
export interface Change {
  readonly name: string
  /** Returns what is different in the confinement of the command. */
  make(places: Places, tools: Tools): Promise<Partial<Confinement> | void>
  readonly script: string
  /** What the script must print. */
  readonly says: string
  /** The prepared sandbox is still right. */
  readonly used?: true
  /** The command may be refused instead. */
  readonly refused?: true
}

const CONNECT = `perl -MSocket -e 'socket(S,1,1,0); print connect(S,sockaddr_un($ARGV[0])) ? "reached" : "hidden"'`

export const CHANGES: readonly Change[] = [
  {
    name: 'nothing changes',
    make: async () => {},
    script: 'echo ran; cat .hawser/key 2>/dev/null; (echo x >AGENTS.md) 2>/dev/null || echo held',
    says: 'ran\nheld',
    used: true,
  },
  {
    name: 'an ordinary file appears',
    make: async ({ workspace }, { writeFile, join }) => writeFile(join(workspace, 'note'), 'new'),
    script: 'cat note',
    says: 'new',
    used: true,
  },
  {
    name: 'a nested .hawser is created',
    make: async ({ workspace }, { mkdir, writeFile, join }) => {
      await mkdir(join(workspace, 'sub/.hawser'), { mode: 0o700 })
      await writeFile(join(workspace, 'sub/.hawser/key'), 'SECRET')
    },
    script: 'cat sub/.hawser/key 2>/dev/null; echo end',
    says: 'end',
  },
  {
    name: 'the .hawser is replaced by another folder',
    make: async ({ workspace }, { mkdir, rm, writeFile, join }) => {
      await rm(join(workspace, '.hawser'), { recursive: true })
      await mkdir(join(workspace, '.hawser'), { mode: 0o700 })
      await writeFile(join(workspace, '.hawser/key'), 'SECRET')
    },
    script: 'cat .hawser/key 2>/dev/null; echo end',
    says: 'end',
  },
  {
    name: 'the .hawser is moved aside, and a new one takes its place',
    make: async ({ workspace }, { mkdir, rename, writeFile, join }) => {
      await rename(join(workspace, '.hawser'), join(workspace, 'aside'))
      await mkdir(join(workspace, '.hawser'), { mode: 0o700 })
      await writeFile(join(workspace, '.hawser/key'), 'SECRET')
    },
    script: 'cat .hawser/key 2>/dev/null; echo end',
    says: 'end',
  },
  {
    name: 'the .hawser becomes a link',
    make: async ({ workspace }, { rename, symlink, join }) => {
      await rename(join(workspace, '.hawser'), join(workspace, 'aside'))
      await symlink('aside', join(workspace, '.hawser'))
    },
    script: 'cat .hawser/key 2>/dev/null; echo end',
    says: 'end',
    refused: true,
  },
  {
    name: 'a protected file is planted',
    make: async ({ workspace }, { writeFile, join }) =>
      writeFile(join(workspace, '.mcp.json'), '{}'),
    script: '(echo x >.mcp.json) 2>/dev/null || echo held',
    says: 'held',
  },
  {
    name: 'a protected file is replaced by a rename',
    make: async ({ workspace }, { writeFile, rename, join }) => {
      await writeFile(join(workspace, 'new'), 'kept')
      await rename(join(workspace, 'new'), join(workspace, 'AGENTS.md'))
    },
    script: '(echo x >AGENTS.md) 2>/dev/null || echo held',
    says: 'held',
  },
  {
    name: 'a repository appears',
    make: async ({ workspace }, { mkdir, writeFile, join }) => {
      for (const name of ['objects', 'refs'])
        await mkdir(join(workspace, '.git', name), { recursive: true })
      await writeFile(join(workspace, '.git/HEAD'), 'ref: refs/heads/main\n')
      await writeFile(join(workspace, '.git/config'), '')
    },
    script: '(echo x >.git/config) 2>/dev/null || echo held',
    says: 'held',
  },
  {
    name: 'the workspace is replaced by another folder',
    make: async ({ workspace }, { mkdir, rename, writeFile, join }) => {
      await rename(workspace, `${workspace}.old`)
      await mkdir(workspace)
      await writeFile(join(workspace, 'which'), 'new')
    },
    script: 'cat which',
    says: 'new',
  },
  {
    name: 'a folder that is shown is replaced',
    make: async ({ shown }, { mkdir, rename, writeFile, join }) => {
      await rename(shown, `${shown}.old`)
      await mkdir(shown)
      await writeFile(join(shown, 'which'), 'new')
    },
    script: 'cat ../shown/which',
    says: 'new',
  },
  {
    name: 'a socket appears in a folder that is shown',
    make: async ({ shown }, { listen, join }) => listen(join(shown, 's')),
    script: `${CONNECT} ../shown/s`,
    says: 'hidden',
  },
  {
    name: 'a workspace in a folder that is shown is registered',
    make: async ({ shown, folder }, { mkdir, writeFile, join }) => {
      const path = join(shown, 'inner')
      await mkdir(join(path, '.hawser'), { recursive: true, mode: 0o700 })
      await writeFile(join(path, '.hawser/key'), 'SECRET')
      await mkdir(join(folder, 'home/workspaces'), { mode: 0o700 })
      await writeFile(join(folder, 'home/workspaces/inner.json'), JSON.stringify({ v: 1, path }))
    },
    script: 'cat ../shown/inner/.hawser/key 2>/dev/null; echo end',
    says: 'end',
  },
  {
    name: 'the folder is no longer readable by policy',
    make: async ({ shown }, { writeFile, join }) => {
      await writeFile(join(shown, 'key'), 'SECRET')
      return { readable: [] }
    },
    script: 'cat ../shown/key 2>/dev/null; echo end',
    says: 'end',
  },
  {
    name: 'nothing is writable by policy',
    make: async () => ({ writable: 'nothing' }),
    script: '(echo x >mark) 2>/dev/null || echo held',
    says: 'held',
  },
]
