import { countOf } from '../../encoding/amounts.ts'
import { sha256 } from '../../encoding/hash.ts'
import { plainText } from '../../encoding/plain-text.ts'
import type { Redactor } from '../../encoding/redaction.ts'
import type { ContextSource } from '../../model/events/context-source.ts'
import type { Descriptor } from '../../model/descriptor.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventData, EventDraft } from '../../model/events/event.ts'
import { LIMITS } from '../../model/limits.ts'
import { clipText } from '../../tools/shown-lines.ts'
import type { ToolContext } from '../../tools/tool.ts'
import type { TurnParts } from '../parts/turn-parts.ts'

/** The output of a source as it came. */
export interface RawOutput {
  readonly bytes: Buffer
  /** `at_limit`: there is more than may be read. `stopped`: its program was stopped. */
  readonly end: 'complete' | 'at_limit' | 'stopped'
}

type Hydration = EventData<'skill_context_hydration'>

/** The fields of the Event that describe the output. */
export type OutputFields = Pick<
  Hydration,
  | 'output'
  | 'output_sha256'
  | 'output_bytes'
  | 'truncated'
  | 'whole_sha256'
  | 'whole_bytes'
  | 'resource_id'
  | 'handle'
  | 'invalid_bytes_replaced'
> & {
  /** The Resource with the whole, recorded before the Event. */
  readonly record: readonly EventDraft[]
  readonly limitations: readonly string[]
}

interface OutputParts extends Pick<ToolContext, 'redactor' | 'keep'> {
  readonly name: TurnParts['log']['names']['name']
}

/**
 * Output as the model sees it: without keys, as valid UTF-8 without control sequences, and with at most `max_bytes` bytes. The
 * whole of what is cut becomes a Resource.
 */
export async function hydratedOutput(
  { bytes, end }: RawOutput,
  { id, max_bytes }: Pick<ContextSource, 'id' | 'max_bytes'>,
  parts: OutputParts,
): Promise<Result<OutputFields>> {
  const { text, invalid_bytes_replaced, hadControls } = plainText(
    redactOutput(parts.redactor, bytes, end !== 'complete'),
  )
  // Removing a control sequence can join the parts of a key.
  const whole = clipText(parts.redactor.text(text), LIMITS.hydrated_spool_bytes)
  const limit = Math.min(max_bytes, LIMITS.hydrated_output_max_bytes)
  const output = clipText(whole, limit)
  const cut = output.length < whole.length
  const shown = {
    output,
    output_sha256: sha256(output),
    output_bytes: Buffer.byteLength(output),
    ...(invalid_bytes_replaced === 0 ? {} : { invalid_bytes_replaced }),
  }
  const limitations = [
    ...(hadControls ? ['Control characters were removed from the output.'] : []),
    ...(end === 'at_limit'
      ? [`Only the first ${countOf(LIMITS.hydrated_spool_bytes, 'byte')} of the output were read.`]
      : []),
  ]
  if (!cut) {
    return ok({
      ...shown,
      ...(end === 'at_limit' ? { truncated: true } : {}),
      record: [],
      limitations,
    })
  }
  const stored = await wholeResource(id, whole, parts)
  const facts = {
    truncated: true,
    whole_sha256: sha256(whole),
    whole_bytes: Buffer.byteLength(whole),
  } as const
  const shownPart = `The output was cut at ${countOf(limit, 'byte')}.`
  if (!stored.ok) {
    const why = `The rest was not stored: ${stored.error.message}`
    return ok({ ...shown, ...facts, record: [], limitations: [...limitations, shownPart, why] })
  }
  const descriptor = stored.value
  return ok({
    ...shown,
    ...facts,
    resource_id: descriptor.resource_id,
    handle: descriptor.handle,
    record: [{ type: 'resource_ingested', data: { descriptor, origin: 'hydration' } }],
    limitations: [...limitations, shownPart],
  })
}

/** The end of a stream that was cut off may be the start of a key. */
function redactOutput(redactor: Redactor, bytes: Buffer, cutOff: boolean): Buffer {
  if (!cutOff) return redactor.bytes(bytes)
  const stream = redactor.byteStream()
  return Buffer.concat([stream.push(bytes), stream.end(true)])
}

async function wholeResource(
  id: string,
  whole: string,
  { keep, name }: OutputParts,
): Promise<Result<Descriptor>> {
  const bytes = Buffer.from(whole)
  const blob = await keep([bytes], 'text/plain')
  if (!blob.ok) return blob
  const lines = whole.split('\n').length - (whole.endsWith('\n') ? 1 : 0)
  return name(
    {
      kind: 'text',
      name: `${id.replaceAll(/[^\w.-]/g, '_')}.txt`,
      media_type: 'text/plain',
      size_bytes: bytes.length,
      content_sha256: sha256(bytes),
      blob: blob.value,
      lines,
    },
    'hydration',
  )
}
