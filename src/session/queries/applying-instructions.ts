import { OWN_PATH } from '../../prompt/words/instructions.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { sha256 } from '../../encoding/hash.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { WholeEvent } from '../../model/events/event.ts'
import {
  OWN_INSTRUCTIONS,
  type InstructionRefusal,
  type InstructionWithheld,
  type NamedInstructions,
} from '../../model/events/instruction-events.ts'
import { BlobKey } from '../../model/ids.ts'
import { currentInstructions } from '../../turn/instructions/current-instructions.ts'
import type { InstructionParts, TextKeeper } from '../../turn/parts/instruction-parts.ts'

/** A file with project instructions that applies, for people. */
export interface ApplyingInstructions {
  /** Relative to the workspace, or `$HAWSER_HOME/AGENTS.md`. */
  readonly path: string
  readonly bytes?: number
  readonly content_sha256?: string
  /** `named`: the model is given its name. `loaded`: and its text. `refused`: it cannot be read. */
  readonly state: 'named' | 'loaded' | 'refused'
  /** Why it is refused, not loaded although the setting says so, or loaded in part. */
  readonly why?: InstructionRefusal | InstructionWithheld | 'truncated'
}

/** The project instructions for the next message from `folder`, relative to the workspace. Writes nothing. */
export async function applyingInstructions(
  parts: InstructionParts | undefined,
  { folder, events = [] }: { readonly folder: string; readonly events?: readonly WholeEvent[] },
): Promise<Result<readonly ApplyingInstructions[]>> {
  const paths = [folder === '' ? '.' : folder]
  const keeper = { put: keptIn(new Map()), redactor: new Redactor([]) }
  const found = await currentInstructions(parts, events, paths, keeper)
  if (!found.ok) return found
  return ok((found.value.facts.instructions ?? []).map(applyingOf))
}

function applyingOf(named: NamedInstructions): ApplyingInstructions {
  const { path, bytes, content_sha256, refused, withheld, blob, truncated } = named
  const why = refused ?? withheld ?? (truncated === true ? 'truncated' : undefined)
  return {
    path: path === OWN_INSTRUCTIONS ? OWN_PATH : path,
    ...(bytes === undefined ? {} : { bytes }),
    ...(content_sha256 === undefined ? {} : { content_sha256 }),
    state: refused !== undefined ? 'refused' : blob === undefined ? 'named' : 'loaded',
    ...(why === undefined ? {} : { why }),
  }
}

/** Keeps texts in memory only. */
export function keptIn(bodies: Map<string, Buffer>): TextKeeper['put'] {
  return async (bytes) => {
    const pieces: Uint8Array[] = []
    for await (const piece of bytes) pieces.push(piece)
    const body = Buffer.concat(pieces)
    const key = BlobKey.parse(`${sha256(body)}.md`)
    bodies.set(key, body)
    return ok(key)
  }
}
