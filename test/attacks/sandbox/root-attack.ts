import type { Confinement } from '../../../src/host/sandbox/sandbox.ts'

/** A person's home directory full of credentials, and a workspace. */
export interface RootScene {
  readonly root: string
  readonly person: string
  readonly workspace: string
  /** Secrets that nothing inside may find. */
  readonly canaries: readonly string[]
  sh(workspace: string, script: string, how?: Partial<Confinement>): Promise<{ output: string }>
  run(
    workspace: string,
    argv: readonly string[],
    how?: Partial<Confinement>,
  ): Promise<{ output: string }>
  onClear(clear: () => void): void
  clear(): void
}

/** What a program inside tries to read or reach; `undefined` if nothing got through. */
export interface RootAttack {
  readonly name: string
  run(scene: RootScene): Promise<string | undefined>
}
