import type { BlobStore } from '../../blobs/store.ts'
import type { Redactor } from '../../encoding/redaction.ts'
import type { InstructionFiles } from '../../host/instructions/instruction-files.ts'
import type { InstructionsSetting } from '../../model/modes.ts'

/** Where project instructions come from, and whether their text is included in requests. */
export interface InstructionParts {
  readonly files: InstructionFiles
  readonly setting: InstructionsSetting
  /** Whether the person trusts this content, so that it may have the role of a developer. Called only with `load`. */
  readonly isTrusted: (path: string, sha256: string) => Promise<boolean>
}

/** Where a text is stored before an Event names it, and what redacts it. */
export interface TextKeeper {
  readonly put: BlobStore['put']
  readonly redactor: Redactor
}
