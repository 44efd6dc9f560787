import type { EventData } from '../../model/events/event.ts'
import type { Rule } from '../../model/rule.ts'
import type { Claim } from '../../policy/claim.ts'
import type { Offer } from '../../policy/rules.ts'

/** What a question and its decision are about. */
export interface PermissionSubject extends Pick<
  EventData<'permission_decision'>,
  'subject' | 'args_sha256' | 'mode'
> {
  /** Absent if it is about an attachment of the person, not about a call. */
  readonly call_id?: string | undefined
}

export interface PermissionQuestion {
  readonly about: PermissionSubject
  readonly claim: Claim
  /** The arguments of the call, verbatim. */
  readonly arguments?: string | undefined
  readonly reason: string
  /** What a yes may cover beyond this call, the narrowest first. */
  readonly offers: readonly Offer[]
  /** The change of a file that the call would make, as a unified diff. */
  readonly diff?: string | undefined
}

export interface PermissionAnswer {
  readonly isAllowed: boolean
  readonly scope: 'once' | 'session' | 'workspace'
  /** `nobody`: there was no one to ask. `interrupt`: the Turn ended before anyone answered. */
  readonly by: 'person' | 'timeout' | 'nobody' | 'interrupt'
  /** What is allowed from now on, with any scope but `once`: an offer of the question, or its edited form. */
  readonly rule?: Rule
  /** The person's reason for denying. */
  readonly reason?: string
}
