import * as z from 'zod'
import { Sha256 } from '../ids.ts'
import { PermissionMode } from '../modes.ts'
import { Rule } from '../rule.ts'
import { Count, Flag, openObject } from '../shape.ts'

export const PermissionOutcome = z.enum(['allowed', 'denied'])

export const PermissionScope = z.enum(['once', 'session', 'workspace'])

/** What a question and its decision are about. Absent `call_id`: about something that the person attached. */
const ABOUT = {
  call_id: z.string().optional(),
  subject: z.string(),
  args_sha256: Sha256,
  mode: PermissionMode,
}

/** A question is open. Exactly one decision about the same follows in the same Turn, also after a crash. */
export const PermissionAsked = openObject(() => ABOUT)

export const PermissionDecision = openObject(() => ({
  ...ABOUT,
  decision: PermissionOutcome,
  scope: PermissionScope,
  /** `nobody`: there was no one to ask. `interrupt`: the Turn ended before anyone answered. */
  by: z.enum(['policy', 'person', 'timeout', 'nobody', 'interrupt']),
  /** The rule that the person granted, or that the policy applied. */
  rule: Rule.optional(),
  /** The person's reason for denying. */
  reason: z.string().optional(),
}))

/** One of the answers to a question, by its number. */
const PermissionChoice = openObject(() => ({
  /** From 1. */
  number: Count,
  text: z.string(),
  decision: PermissionOutcome,
  scope: PermissionScope,
  /** What is allowed from now on, with any scope but `once`. */
  rule: Rule.optional(),
  /** The answer may contain text: the edited rule, or a reason for denying. */
  field: openObject(() => ({ label: z.string(), text: z.string() })).optional(),
}))

/** Everything that a person needs to answer. */
export const PermissionRequested = openObject(() => ({
  request_id: z.string(),
  call_id: z.string().optional(),
  subject: z.string(),
  tool: z.string(),
  effect: z.enum(['none', 'read', 'write', 'run']),
  paths: z.array(z.string()),
  network: Flag,
  /** The arguments of the call, verbatim. */
  arguments: z.string().optional(),
  /** The change of a file that the call would make, as a unified diff; empty if its content stays the same. */
  diff: z.string().optional(),
  upload: openObject(() => ({
    handle: z.string(),
    name: z.string(),
    kind: z.enum(['image', 'pdf', 'text']),
    size_bytes: Count,
  })).optional(),
  hydration: openObject(() => ({
    skill: z.string(),
    /** Where the Skill comes from. */
    from: z.string().optional(),
    context_source_id: z.string(),
    argv: z.array(z.string()).optional(),
  })).optional(),
  /** Why it is asked. */
  reason: z.string(),
  /** From the narrowest yes to the widest, then no. */
  choices: z.array(PermissionChoice),
}))

export const PermissionSettled = openObject(() => ({
  request_id: z.string(),
  call_id: z.string().optional(),
  decision: PermissionOutcome,
  scope: PermissionScope,
  by: z.enum(['person', 'timeout', 'nobody', 'interrupt']),
  /** The person's reason for denying. */
  reason: z.string().optional(),
}))
