import type { Scene } from './sandbox-scene.ts'

/** An attack by a program in the sandbox. */
export interface Attack {
  /** Number in the attack table of the reliability study; 0 for what must work nevertheless. */
  readonly row: number
  readonly name: string
  /** What got through, as text; `undefined` if nothing did. */
  run(scene: Scene): Promise<string | undefined>
}

/** The result of one attack, as reported by the child. */
export interface Verdict {
  readonly row: number
  readonly name: string
  readonly through?: string
}

/** The first of these statements that is true. */
export function firstOf(facts: Readonly<Record<string, boolean>>): string | undefined {
  return Object.entries(facts).find(([, so]) => so)?.[0]
}
