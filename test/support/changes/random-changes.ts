import type { Random } from '../host/random.ts'
import type { Contents } from './change-model.ts'

const PATHS = ['a.txt', 'b.txt', 'c.sh', 'd/e.txt', 'd/f/g.txt', 'h.md'] as const

/** Is always there, so that only files come and go. */
export const KEPT_PATH = 'd/f/kept.txt'

let count = 0

/** A path, and a text that nothing else has. */
export function randomText(chance: Random): readonly [path: string, text: string] {
  count += 1
  return [chance.pick(PATHS), `text ${count}`]
}

export interface RandomCommand {
  readonly command: string
  /** The files after it. */
  readonly after: Contents
}

/** A shell command of one to three steps. */
export function randomCommand(chance: Random, before: Contents): RandomCommand {
  let state = before
  const steps: string[] = []
  for (let n = 1 + chance.below(3); n > 0; n -= 1) {
    const { command, after } = step(chance, state)
    steps.push(command)
    state = after
  }
  return { command: steps.join('; '), after: state }
}

function step(chance: Random, before: Contents): RandomCommand {
  const after = new Map(before)
  const [path, text] = randomText(chance)
  switch (chance.below(6)) {
    case 0:
      after.delete(path)
      return { command: `rm -f ${path}`, after }
    case 1: {
      after.set(path, (before.get(path) ?? '') + text)
      return { command: `printf %s "${text}" >> ${path}`, after }
    }
    case 2: {
      const from = chance.pick(PATHS)
      const content = before.get(from)
      if (content === undefined || from === path) return { command: 'true', after }
      after.delete(from)
      after.set(path, content)
      return { command: `mv ${from} ${path}`, after }
    }
    case 3:
      for (const one of PATHS) if (one.startsWith('d/')) after.delete(one)
      return { command: 'rm -f d/*.txt d/f/g.txt', after }
    default:
      after.set(path, text)
      return { command: `printf %s "${text}" > ${path}`, after }
  }
}
