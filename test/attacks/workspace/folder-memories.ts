import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../../src/host/clock.ts'
import { inBlobsOf } from '../../../src/host/distrusted-workspace.ts'
import { stagedFiles } from '../../../src/host/server/staged-files.ts'
import { openConfined } from '../../../src/host/files/confined-files.ts'
import { closing } from '../../../src/host/files/files.ts'
import { atFolder, identifyFolder } from '../../../src/host/files/folder-identity.ts'
import { openHome } from '../../../src/host/home.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { workspaceRules } from '../../../src/host/permission-rules.ts'
import { moveFound } from '../../../src/host/sandbox/inspect.ts'
import { moveAside } from '../../../src/host/sandbox/watch/move-aside.ts'
import { workingDirectory } from '../../../src/host/sandbox/working-directory.ts'
import {
  readTrustedInstructions,
  readTrustedSkills,
  setTrustedSkill,
  trustInstructions,
} from '../../../src/host/trust.ts'
import { workspaceRegister } from '../../../src/host/workspace-register.ts'
import { failed, ok, type Result } from '../../../src/model/errors.ts'
import type { FolderIdentity } from '../../../src/model/folder-identity.ts'
import { SessionId } from '../../../src/model/ids.ts'
import { skillRoots } from '../../../src/skills/skill-roots.ts'
import { fileFrameStore } from '../../../src/tether/frames/files/file-store.ts'
import { fileRecords } from '../../../src/tether/records/files/file-records.ts'
import { Instances } from '../../../src/tether/instances/instances.ts'

/** What a use of a remembered folder reached: the folder itself, nothing, or another one. */
export type Answer = 'same' | 'refused' | 'reached'

export interface MemoryScene {
  /** The remembered folder, three levels below `root`. */
  readonly path: string
  readonly home: string
}

/** Something that remembers a folder. `remember` returns a way to use it, and how the next process would use it. */
export interface FolderMemory {
  readonly name: string
  remember(scene: MemoryScene): Promise<FolderUses>
}

export interface FolderUses {
  readonly use: () => Promise<Answer>
  /** In a process that starts later. Absent for what ends with its process. */
  readonly later?: () => Promise<Answer>
  readonly close?: () => Promise<unknown>
}

const ids = systemIds(systemClock)
const INSTANCE = 'i'
const GUEST_BLOBS = `.hawser/instances/${INSTANCE}/blobs`
const SESSION = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')
const SKILL = 'helper'
const AT = '2026-01-31T12:00:00.000Z'

/** A folder that has everything in it that one of the memories could use, and a mark that tells whose it is. */
export function furnish(path: string, mark: 'own' | 'target'): void {
  const skill = join(path, '.agents/skills', SKILL)
  for (const folder of ['.hawser/sessions', GUEST_BLOBS, '.git'])
    mkdirSync(join(path, folder), { recursive: true, mode: 0o700 })
  mkdirSync(skill, { recursive: true })
  writeFileSync(join(path, 'mark'), mark)
  for (const at of [0, 1]) writeFileSync(join(path, `planted-${at}`), mark)
  writeFileSync(join(path, GUEST_BLOBS, 'mark'), mark, { mode: 0o600 })
  writeFileSync(join(path, `.hawser/sessions/${SESSION}.ndjson`), mark, { mode: 0o600 })
  writeFileSync(join(skill, 'SKILL.md'), '---\nname: helper\ndescription: x\n---\n')
}

function answerOf(mark: string | undefined): Answer {
  if (mark === undefined) return 'refused'
  return mark === 'own' ? 'same' : 'reached'
}

const markAt = (path: string) => answerOf(readFileSync(join(path, 'mark'), 'utf8'))

async function identityOf(path: string): Promise<FolderIdentity> {
  const found = await identifyFolder(path)
  if (!found.ok) throw new Error(found.error.message)
  return found.value
}

async function refusedUnless<T>(
  result: Promise<Result<T>>,
  reached: (value: T) => Answer | Promise<Answer>,
): Promise<Answer> {
  const got = await result
  return got.ok ? reached(got.value) : 'refused'
}

async function withHome<T>(
  path: string,
  work: (home: Extract<Awaited<ReturnType<typeof openHome>>, { ok: true }>['value']) => Promise<T>,
): Promise<T> {
  const home = await openHome(path)
  if (!home.ok) throw new Error(home.error.message)
  return closing(home.value, work)
}

/** Uses Instances whose agents report where they would work. */
async function withInstances<T>(
  home: string,
  work: (instances: Instances) => Promise<T>,
): Promise<T> {
  return withHome(home, async ({ own }) => {
    const files = { home: own, clock: systemClock, ids }
    const frames = fileFrameStore(files)
    const opened = await Instances.open({
      ...files,
      path: home,
      frames,
      records: fileRecords({ ...files, frames }),
      runtime: {
        start: async ({ identity }) => {
          const answer = await atFolder(identity, async (path) => markAt(path)).catch(
            () => 'refused',
          )
          return failed('unreadable', answer)
        },
      },
      roots: async () => ok([]),
      note: () => {},
    })
    if (!opened.ok) throw new Error(opened.error.message)
    return closing(opened.value, work)
  })
}

async function startedIn(instances: Instances): Promise<Answer> {
  const started = await instances.act('a', 'start')
  if (started.ok) return 'reached'
  const { kind, message } = started.error
  return kind === 'unreadable' && message === 'same' ? 'same' : 'refused'
}

export const MEMORIES: readonly FolderMemory[] = [
  {
    name: 'the workspace of an Instance',
    remember: async ({ path, home }) => {
      await withInstances(home, (instances) =>
        instances.create({ handle: 'a', workspace: path }, 'operator'),
      )
      const use = () => withInstances(home, startedIn)
      return { use, later: use }
    },
  },
  {
    name: 'the workspace of an Instance of this server',
    remember: async ({ path, home }) => {
      let end: () => void = () => {}
      const ended = new Promise<void>((resolve) => void (end = resolve))
      let running: Promise<void> | undefined
      const instances = await new Promise<Instances>((resolve) => {
        running = withInstances(home, async (opened) => {
          resolve(opened)
          await ended
        })
      })
      await instances.create({ handle: 'a', workspace: path }, 'operator')
      const close = async () => {
        end()
        await running
      }
      return { use: () => startedIn(instances), close }
    },
  },
  {
    name: 'the blobs of a guest',
    remember: async ({ path }) => {
      const identity = await identityOf(path)
      const use = async () => {
        const records = { workspace: identity, instance: INSTANCE }
        const mark = await inBlobsOf(records, async (folder) =>
          closing(await folder.open('mark', 'read'), async (file) => {
            const into = Buffer.alloc(10)
            return into.toString('utf8', 0, await file.read(into, 0))
          }),
        ).catch(() => undefined)
        return answerOf(mark)
      }
      return { use, later: use }
    },
  },
  {
    name: 'a registered workspace',
    remember: async ({ path, home }) => {
      const identity = await identityOf(path)
      await withHome(home, ({ own }) => workspaceRegister(own, ids).add(identity))
      const use = () =>
        withHome(home, async ({ own }) => {
          const found = await workspaceRegister(own, ids).workspaceOf(SESSION)
          if (found === undefined) return 'refused' as const
          return atFolder(found, async (at) => markAt(at))
        })
      return { use, later: use }
    },
  },
  {
    name: 'a rule that allows',
    remember: async ({ path, home }) => {
      const rule = { kind: 'prefix', answer: 'allow', words: ['make'] } as const
      const store = (own: Parameters<typeof workspaceRegister>[0]) =>
        workspaceRules({
          home: own,
          workspace: path,
          ids,
          clock: systemClock,
          holdsKey: () => false,
        })
      await withHome(home, ({ own }) => store(own).add(rule))
      const use = () =>
        withHome(home, async ({ own }) =>
          refusedUnless(store(own).read(), (rules) =>
            rules.length === 0 ? 'refused' : markAt(path),
          ),
        )
      return { use, later: use }
    },
  },
  {
    name: 'a trusted Skill',
    remember: async ({ path, home }) => {
      const content = { sha256: 'x', at: AT }
      const identity = await identityOf(path)
      await withHome(home, ({ own }) => setTrustedSkill(own, identity, SKILL, content, ids))
      const use = () =>
        refusedUnless(identifyFolder(path), (now) =>
          withHome(home, ({ own }) =>
            refusedUnless(readTrustedSkills(own, now), (skills) =>
              skills.length === 0 ? 'refused' : markAt(path),
            ),
          ),
        )
      return { use, later: use }
    },
  },
  {
    name: 'trusted instructions',
    remember: async ({ path, home }) => {
      const content = { path: 'AGENTS.md', sha256: 'x', at: AT }
      const identity = await identityOf(path)
      await withHome(home, ({ own }) => trustInstructions(own, identity, [content], ids))
      const use = () =>
        refusedUnless(identifyFolder(path), (now) =>
          withHome(home, ({ own }) =>
            refusedUnless(readTrustedInstructions(own, now), (all) =>
              all.length === 0 ? 'refused' : markAt(path),
            ),
          ),
        )
      return { use, later: use }
    },
  },
  {
    name: 'the working directory of an open Session',
    remember: async ({ path, home }) => {
      const identity = await identityOf(path)
      const use = () =>
        refusedUnless(workingDirectory({ workspace: path, identity, home }), ({ folder }) =>
          markAt(folder),
        )
      return { use }
    },
  },
  {
    name: 'the roots of Skills of an open Session',
    remember: async ({ path, home }) => {
      const identity = await identityOf(path)
      const use = async () => {
        const { roots } = skillRoots({
          workspace: path,
          identity,
          hawserHome: home,
          userHome: home,
        })
        return roots.some(({ isForeign }) => isForeign) ? markAt(path) : 'refused'
      }
      return { use }
    },
  },
  {
    name: 'the open files of a workspace',
    remember: async ({ path }) => {
      const files = await openConfined(path, { refuse: [] })
      if (!files.ok) throw new Error(files.error.message)
      return {
        close: () => files.value.close(),
        use: () =>
          refusedUnless(files.value.read('mark', 10), ({ bytes }) => answerOf(String(bytes))),
      }
    },
  },
  {
    name: 'the inspection after a command',
    remember: async ({ path }) => {
      const identity = await identityOf(path)
      let count = 0
      const use = async () => {
        let kept: string | undefined
        const keep = async (_: string, content: AsyncIterable<Uint8Array>) => {
          for await (const piece of content) kept = Buffer.from(piece).toString()
          return failed('storage_failed', 'The file stays.')
        }
        const found = [{ path: `planted-${count++}`, earlier: {} }]
        const moved = await moveAside({ workspace: identity }, found, keep)
        return moved.ok && moved.value.length > 0 ? answerOf(kept) : 'refused'
      }
      return { use }
    },
  },
  {
    name: 'the inspection after a kill',
    remember: async ({ path }) => {
      const identity = await identityOf(path)
      let count = 0
      const use = async () => {
        let kept: string | undefined
        const keep = async (_: string, content: AsyncIterable<Uint8Array>) => {
          for await (const piece of content) kept = Buffer.from(piece).toString()
          return failed('storage_failed', 'The file stays.')
        }
        const found = [{ path: `planted-${count++}`, why: '', earlier: {} }]
        const moved = await moveFound({ workspace: path, identity }, found, keep)
        return moved.ok && moved.value.length > 0 ? answerOf(kept) : 'refused'
      }
      return { use }
    },
  },
  {
    name: 'staged uploads',
    remember: async ({ path }) => {
      const home = await openHome(path)
      if (!home.ok) throw new Error(home.error.message)
      const staged = await stagedFiles(home.value.own, systemClock)
      let count = 0
      const use = async (): Promise<Answer> => {
        const name = `upload-${count++}`
        const bytes = async function* () {
          yield Buffer.from('x')
        }
        const added = await staged.add(name, bytes(), 10)
        if (!added.ok) return 'refused'
        // The folder that was opened has the file, wherever it is now.
        const names = await closing(await home.value.own.folder('staged', 'open'), async (one) =>
          closing(await one.folder('0', 'open'), (slot) => slot.names()),
        )
        return names.includes(name) ? 'same' : 'reached'
      }
      const close = () => Promise.all([staged.close(), home.value.close()])
      return { use, close }
    },
  },
]

/** What the corpus must catch: the path is resolved again at each use. */
export const NAIVE: FolderMemory = {
  name: 'a path that is resolved at each use',
  remember: async ({ path }) => {
    const real = realpathSync(path)
    const use = async () => {
      try {
        return markAt(realpathSync(real))
      } catch {
        return 'refused' as const
      }
    }
    return { use, later: use }
  },
}

export function freshScene(root: string): string {
  return mkdtempSync(join(root, 'scene-'))
}

export function run(program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { stdio: 'ignore' })
}
