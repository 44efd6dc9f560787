import {
  APPENDED_END,
  appendedStart,
  instructionsEnd,
  instructionsStart,
} from '../prompt/words/instructions.ts'
import { canonicalJson } from '../encoding/json.ts'
import type { Part } from '../model/conversation.ts'
import type { EventData, WholeEvent } from '../model/events/event.ts'
import type { AppendedInstructions, NamedInstructions } from '../model/events/instruction-events.ts'
import type { BlobKey } from '../model/ids.ts'
import { historyOf, type History } from './history.ts'
import { stableText } from './user-parts.ts'
import { withoutCalls } from './without-calls.ts'

type LateContext = EventData<'late_context'>

/** What the model received about project instructions so far. */
export interface InstructionsSoFar {
  /** The last late context, also if a checkpoint covers it. */
  readonly late: LateContext | undefined
  /** Whether the next request shows that late context. */
  readonly isShown: boolean
  /** The last text of each path that the next request shows. */
  readonly texts: () => ReadonlyMap<string, BlobKey>
}

export function instructionsSoFar(events: readonly WholeEvent[]): InstructionsSoFar {
  const { state, events: raw } = historyOf(events)
  const shown = withoutCalls(raw).findLast((event) => event.type === 'late_context')
  return {
    late: shown?.type === 'late_context' ? shown.data : state.late_context,
    isShown: shown !== undefined,
    texts: () => {
      const texts = new Map(textsBefore(state).map(({ path, blob }) => [path, blob]))
      for (const event of withoutCalls(raw))
        if (event.type === 'project_instructions' && event.data.reason !== 'appended')
          texts.set(event.data.path, event.data.blob)
      return texts
    },
  }
}

type LoadedInstructions = NamedInstructions & { readonly blob: BlobKey }

/** The texts in force before the raw Events, which follow the checkpoint. */
export function textsBefore({ late_context }: History['state']): LoadedInstructions[] {
  return (late_context?.instructions ?? []).filter(isLoaded)
}

function isLoaded(named: NamedInstructions): named is LoadedInstructions {
  return named.blob !== undefined
}

/** The texts that the person added to the Session, once each. They hold for all of it. */
export function appendedTexts({ state, events }: Pick<History, 'state' | 'events'>) {
  const texts = new Map((state.appended ?? []).map((one) => [one.content_sha256, one]))
  for (const event of withoutCalls(events)) {
    if (event.type !== 'project_instructions' || event.data.reason !== 'appended') continue
    const { content_sha256, blob, text_bytes } = event.data
    texts.set(content_sha256, { content_sha256, blob, text_bytes })
  }
  return [...texts.values()]
}

/** The item of a text that the person added. */
export function appendedParts({ blob, text_bytes }: AppendedInstructions): Part[] {
  return [
    ...stableText(appendedStart({ text_bytes })),
    { type: 'blob', blob, media_type: 'text/markdown', text_bytes, lifetime: 'stable' },
    ...stableText(APPENDED_END),
  ]
}

/** The item of a text of a file: its label, the text, and its end. */
export function instructionParts(
  text: Pick<LoadedInstructions, 'path' | 'blob' | 'bytes' | 'text_bytes' | 'truncated'>,
): Part[] {
  const { blob, text_bytes } = text
  const length = text_bytes === undefined ? {} : { text_bytes }
  return [
    ...stableText(instructionsStart(text)),
    { type: 'blob', blob, media_type: 'text/markdown', ...length, lifetime: 'stable' },
    ...stableText(instructionsEnd(text)),
  ]
}

/** Whether two late contexts state the same facts. That a file changed since the one before is not a fact of its own. */
export function sameFacts(one: LateContext | undefined, other: LateContext): boolean {
  return one !== undefined && comparable(one) === comparable(other)
}

function comparable({ instructions = [], ...facts }: LateContext): string {
  const named = instructions.map(({ changed: _changed, ...rest }) => rest)
  return canonicalJson({ ...facts, instructions: named })
}
