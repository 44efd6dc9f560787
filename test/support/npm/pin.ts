/** A package and its version. */
export interface Pin {
  readonly name: string
  readonly version: string
}

/** For programs that need a newer Node than the one that runs the tests. */
export const NEWER_NODE = {
  name: `node-${process.platform}-${process.arch}`,
  version: '24.21.0',
} as const
