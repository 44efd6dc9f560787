import type { PermissionMode } from '../model/modes.ts'

const WIDTH: Readonly<Record<PermissionMode, number>> = { 'read-only': 0, ask: 1, auto: 2 }

/** The stricter of two modes: a restored mode is an upper limit, and `plan` makes read-only one. */
export function narrower(a: PermissionMode, b: PermissionMode): PermissionMode {
  return WIDTH[a] <= WIDTH[b] ? a : b
}
