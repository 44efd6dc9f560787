import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import {
  freshScene,
  furnish,
  MEMORIES,
  NAIVE,
  run,
  type Answer,
  type FolderMemory,
} from './folder-memories.ts'

/** A way to put something else at a path, and to undo it. `target` is a tree of the same names. */
interface Swap {
  readonly name: string
  /** Needs root. */
  readonly mounts?: true
  readonly swap: (path: string, target: string) => void
  readonly undo?: (path: string) => void
  /** What a memory may answer; `refused` if absent. */
  readonly answers?: readonly Answer[]
}

const aside = (path: string) => join(dirname(path), `${basename(path)}.aside`)

export const SWAPS: readonly Swap[] = [
  {
    name: 'a link to another folder',
    swap: (path, target) => {
      renameSync(path, aside(path))
      symlinkSync(target, path)
    },
  },
  {
    name: 'a link to the folder itself',
    swap: (path) => {
      renameSync(path, aside(path))
      symlinkSync(aside(path), path)
    },
  },
  {
    name: 'another folder, renamed',
    swap: (path, target) => {
      renameSync(path, aside(path))
      renameSync(target, path)
    },
  },
  {
    name: 'a copy of another folder',
    swap: (path, target) => {
      renameSync(path, aside(path))
      run('cp', '-a', target, path)
    },
  },
  {
    name: 'a copy of another folder with hard links to its files',
    swap: (path, target) => {
      renameSync(path, aside(path))
      run('cp', '-al', target, path)
    },
  },
  {
    name: 'a folder that is created again',
    swap: (path, target) => {
      rmSync(path, { recursive: true })
      mkdirSync(path)
      run('cp', '-a', `${target}/.`, path)
    },
  },
  {
    name: 'another folder, mounted',
    mounts: true,
    swap: (path, target) => run('mount', '--bind', target, path),
    undo: (path) => run('umount', '-l', path),
  },
  {
    name: 'another folder and back',
    swap: (path, target) => {
      renameSync(path, aside(path))
      renameSync(target, path)
      renameSync(path, target)
      renameSync(aside(path), path)
    },
    answers: ['same'],
  },
]

const MOMENTS = ['before the first use', 'between two uses', 'before the next process'] as const
const COMPONENTS = ['a', 'a/b', 'a/b/c'] as const

export interface SwapRun {
  readonly tried: number
  readonly wrong: readonly string[]
  /** How often the naive memory reached another folder, by the kind of swap. */
  readonly naive: Readonly<Record<string, number>>
  readonly uid: number
}

/** Swaps every component of every remembered path in every way at every moment. */
export async function runSwaps(root: string): Promise<SwapRun> {
  const wrong: string[] = []
  const naive: Record<string, number> = {}
  let tried = 0
  const isRoot = process.getuid?.() === 0
  for (const swap of SWAPS.filter(({ mounts }) => mounts !== true || isRoot)) {
    for (const component of COMPONENTS)
      for (const moment of MOMENTS) {
        for (const memory of MEMORIES) {
          const answer = await attempt(freshScene(root), memory, swap, component, moment)
          if (answer === undefined) continue
          tried += 1
          if (isAllowed(memory, swap, answer)) continue
          wrong.push(`${memory.name}: ${swap.name} at ${component}, ${moment}: ${answer}`)
        }
        const answer = await attempt(freshScene(root), NAIVE, swap, component, moment)
        if (answer === 'reached') naive[swap.name] = (naive[swap.name] ?? 0) + 1
      }
  }
  return { tried, wrong, naive, uid: process.getuid?.() ?? 0 }
}

/** What is open already stays the folder that it is, or is refused. */
const OPEN = new Set(['the open files of a workspace', 'staged uploads'])

function isAllowed({ name }: FolderMemory, { answers = ['refused'] }: Swap, answer: Answer) {
  return answers.includes(answer) || (OPEN.has(name) && answer !== 'reached')
}

async function attempt(
  root: string,
  memory: FolderMemory,
  { swap, undo }: Swap,
  component: string,
  moment: (typeof MOMENTS)[number],
): Promise<Answer | undefined> {
  const home = join(root, 'home')
  const path = join(root, 'a/b/c')
  const at = join(root, component)
  const target = join(root, 'target')
  mkdirSync(path, { recursive: true })
  furnish(path, 'own')
  const inTarget = join(target, relative(at, path))
  mkdirSync(inTarget, { recursive: true })
  furnish(inTarget, 'target')
  const { use, later, close } = await memory.remember({ path, home })
  if (moment === 'before the next process' && later === undefined) {
    await close?.()
    return undefined
  }
  if (moment === 'between two uses' && (await use()) !== 'same')
    throw new Error(`${memory.name} does not work`)
  swap(at, target)
  try {
    return await (moment === 'before the next process' ? later : use)?.()
  } finally {
    undo?.(at)
    await close?.()
    rmSync(root, { recursive: true, force: true })
  }
}
