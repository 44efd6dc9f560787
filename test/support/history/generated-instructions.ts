import { sha256 } from '../../../src/encoding/hash.ts'
import type { EventData, EventDraft } from '../../../src/model/events/event.ts'
import type { NamedInstructions } from '../../../src/model/events/instruction-events.ts'
import type { BlobKey } from '../../../src/model/ids.ts'
import type { Random } from '../host/random.ts'

const PATHS = ['~', 'a/AGENTS.md']

/** Project instructions that join, change, are refused and vanish, named only or loaded. */
export class GeneratedInstructions {
  readonly #named = new Map<string, NamedInstructions>()
  #versions = 0

  /** Fields of the next late context, and the Events that follow it. */
  next(chance: Random, store: (text: string) => BlobKey) {
    const texts: EventDraft<'project_instructions'>[] = []
    const path = chance.pick(PATHS)
    const before = this.#named.get(path)
    const kind = chance.below(6)
    if (kind === 0) this.#named.delete(path)
    else if (kind === 1) this.#named.set(path, { path, refused: 'link' })
    else {
      const text = `Rule ${(this.#versions += 1)}. `.repeat(1 + chance.below(20))
      const facts = { path, bytes: text.length, content_sha256: sha256(text) }
      const loaded = kind === 2 ? {} : { blob: store(text), text_bytes: text.length }
      this.#named.set(path, { ...facts, ...(before && { changed: true }), ...loaded })
      const { blob } = loaded
      const reason = before === undefined ? 'nearer' : 'changed'
      const length = { text_bytes: text.length }
      if (blob !== undefined)
        texts.push({ type: 'project_instructions', data: { ...facts, ...length, blob, reason } })
    }
    const instructions = [...this.#named.values()]
    const late: Pick<EventData<'late_context'>, 'instructions'> = { instructions }
    return { late, texts }
  }
}
