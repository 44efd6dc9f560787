import * as z from 'zod'

/** What a Session is for. `plan` makes `read-only` the widest permission mode. */
export const SessionMode = z.enum(['build', 'plan'])
export type SessionMode = z.infer<typeof SessionMode>

/** What a Session may do without asking. */
export const PermissionMode = z.enum(['read-only', 'ask', 'auto'])
export type PermissionMode = z.infer<typeof PermissionMode>

const WIDTH: Readonly<Record<PermissionMode, number>> = { 'read-only': 0, ask: 1, auto: 2 }

/** The stricter of two modes: a restored mode is an upper limit, and `plan` makes read-only one. */
export function narrower(a: PermissionMode, b: PermissionMode): PermissionMode {
  return WIDTH[a] <= WIDTH[b] ? a : b
}

/** How long the bytes of an attachment stay in requests. */
export const Replay = z.enum(['attach-turn', 'window', 'cost-aware'])
export type Replay = z.infer<typeof Replay>

/** Where Logs and what belongs to them are stored. */
export const Engine = z.enum(['files'])
export type Engine = z.infer<typeof Engine>

/** How the summary of a checkpoint is written: from excerpts, without a model, or by the model. */
export const CompactionSummary = z.enum(['excerpts', 'model'])
export type CompactionSummary = z.infer<typeof CompactionSummary>

/** When a Session is compacted between Turns: only if a person asks for it, or also as its window fills. */
export const CompactionPolicy = z.enum(['manual', 'auto'])
export type CompactionPolicy = z.infer<typeof CompactionPolicy>

/** What requests contain of project instructions: their names only, or also their text. */
export const InstructionsSetting = z.enum(['name', 'load'])
export type InstructionsSetting = z.infer<typeof InstructionsSetting>
