import type { Scene } from './sandbox-scene.ts'

/** Something a program in the sandbox tries. */
export interface Attack {
  /** Of the attack table in the study on reliability; 0 for what must work in spite of all this. */
  readonly row: number
  readonly name: string
  /** What got through, in words; `undefined` when nothing did. */
  run(scene: Scene): Promise<string | undefined>
}

/** What became of one, as the child that tried it tells. */
export interface Verdict {
  readonly row: number
  readonly name: string
  readonly through?: string
}

/** The first of these facts that is so. */
export function firstOf(facts: Readonly<Record<string, boolean>>): string | undefined {
  return Object.entries(facts).find(([, so]) => so)?.[0]
}
