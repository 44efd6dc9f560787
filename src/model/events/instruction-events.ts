import * as z from 'zod'
import { BlobKey, Sha256 } from '../ids.ts'
import { Count, Flag, openObject, type Frozen } from '../shape.ts'

/** The path of `$HAWSER_HOME/AGENTS.md` in Events; all others are relative to the workspace. */
export const OWN_INSTRUCTIONS = '~'

/** In place of a path: text that the person added to a Session. No file with project instructions has this path. */
export const APPENDED_INSTRUCTIONS = '+'

/** Why a file with project instructions cannot be read. */
export const InstructionRefusal = z.enum(['link', 'hard_link', 'not_a_file', 'unreadable'])
export type InstructionRefusal = z.infer<typeof InstructionRefusal>

/** Why a text is not loaded although the setting says so. */
export const InstructionWithheld = z.enum(['untrusted', 'over_limit', 'too_large', 'not_text'])
export type InstructionWithheld = z.infer<typeof InstructionWithheld>

/** A file with project instructions that applies, as late context names it. */
export const NamedInstructions = openObject(() => ({
  path: z.string(),
  /** Absent if it is refused. */
  bytes: Count.optional(),
  /** Of its whole content; absent if it is refused or too large to be read. */
  content_sha256: Sha256.optional(),
  refused: InstructionRefusal.optional(),
  /** The model received another hash or size before. */
  changed: Flag,
  /** The loaded text, as the model sees it, and its length; absent unless it is loaded. */
  blob: BlobKey.optional(),
  text_bytes: Count.optional(),
  /** Only the beginning is loaded. */
  truncated: Flag,
  withheld: InstructionWithheld.optional(),
}))
export type NamedInstructions = Frozen<z.infer<typeof NamedInstructions>>

/** Text that the person added to a Session, as a checkpoint carries it. */
export const AppendedInstructions = openObject(() => ({
  content_sha256: Sha256,
  blob: BlobKey,
  text_bytes: Count,
}))
export type AppendedInstructions = Frozen<z.infer<typeof AppendedInstructions>>

/** The text of a file with project instructions, recorded only with the setting `load`; or text that the person added. */
export const ProjectInstructions = openObject(() => ({
  path: z.string(),
  content_sha256: Sha256,
  /** What the model sees. */
  blob: BlobKey,
  /** The size of the file. */
  bytes: Count,
  text_bytes: Count,
  truncated: Flag,
  /**
   * `allowed`: the content was known, but is loaded only now, because of trust, of the setting, or of free room. `appended`: the
   * person added the text itself, which holds for the Session; all sizes and the hash are those of what the model sees.
   */
  reason: z.enum(['session_start', 'nearer', 'changed', 'allowed', 'appended']),
}))
