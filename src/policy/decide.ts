import type { Claim } from './claim.ts'
import { looksReadOnly } from './command-class.ts'
import { protectedBy } from './protected-paths.ts'

export type PermissionMode = 'read-only' | 'ask' | 'auto'

/** Under what a call is decided. */
export interface Posture {
  readonly mode: PermissionMode
  /** A sandbox was proven to confine. */
  readonly confined: boolean
  /** What a person allowed for the rest of this process, by `grantOf`. */
  readonly granted: ReadonlySet<string>
}

export interface Decision {
  readonly answer: 'allow' | 'ask' | 'deny'
  /** For the person who is asked, and for the model that is refused. */
  readonly reason: string
  /** What a program may write to. */
  readonly writable: 'workspace' | 'nothing'
  /** A session-wide yes would cover calls of this kind; `undefined` where every call is asked about. */
  readonly grant: string | undefined
}

/** May this call happen? Pure; the same claim and posture have the same answer. */
export function decide(claim: Claim, posture: Posture): Decision {
  const touched = claim.effect === 'write' ? protectedPathOf(claim) : undefined
  if (claim.effect === 'none' || claim.effect === 'read') return allow('it changes nothing')
  if (claim.effect === 'run') return decideRun(claim, posture)
  if (posture.mode === 'read-only') return deny('this Session is read-only')
  if (touched !== undefined) return ask(touched, undefined)
  if (posture.mode === 'auto') return allow('it stays inside the workspace')
  return askOrGranted(claim, posture, 'it changes a file')
}

/** The first path that is protected, and why. */
function protectedPathOf({ paths, gitReads = [] }: Claim): string | undefined {
  const reasons = paths.flatMap((path) => {
    const reason = protectedBy(path)
    return reason === undefined ? [] : [{ path, reason }]
  })
  const [first] = [...reasons, ...gitReads]
  return first && `${first.path} is protected: ${first.reason}`
}

function decideRun(claim: Claim, posture: Posture): Decision {
  if (posture.mode === 'read-only') {
    if (!posture.confined)
      return deny('this Session is read-only, and nothing here can hold a program to that')
    if (claim.network) return deny('this Session is read-only, and the network is outside of it')
    return { ...allow('it runs with everything read-only'), writable: 'nothing' }
  }
  if (claim.network) return ask('it wants the network', undefined)
  if (!posture.confined) return ask('no sandbox confines it here', undefined)
  if (posture.mode === 'auto') return allow('the sandbox confines it')
  if (looksReadOnly(claim.command ?? '')) {
    return { ...allow('it only looks, with everything read-only'), writable: 'nothing' }
  }
  return askOrGranted(claim, posture, 'it runs a program')
}

function askOrGranted(claim: Claim, posture: Posture, reason: string): Decision {
  const grant = `${claim.tool}:${claim.effect}`
  if (posture.granted.has(grant)) return allow('it was allowed for this Session')
  return ask(reason, grant)
}

function allow(reason: string): Decision {
  return { answer: 'allow', reason, writable: 'workspace', grant: undefined }
}

function ask(reason: string, grant: string | undefined): Decision {
  return { answer: 'ask', reason, writable: 'workspace', grant }
}

function deny(reason: string): Decision {
  return { answer: 'deny', reason, writable: 'nothing', grant: undefined }
}

const WIDTH: Readonly<Record<PermissionMode, number>> = { 'read-only': 0, ask: 1, auto: 2 }

/** The narrower of two modes: a mode that was restored is a ceiling, and `plan` makes read-only one. */
export function narrower(a: PermissionMode, b: PermissionMode): PermissionMode {
  return WIDTH[a] <= WIDTH[b] ? a : b
}
