import { createHash } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { ok } from '../../../src/model/errors.ts'
import { rehearsalBrain } from '../../../src/providers/rehearsal/rehearsal-brain.ts'
import { readRequest, type RehearsalRequest } from '../../../src/providers/rehearsal/schema.ts'
import { rehearsalProvider } from '../../../src/providers/rehearsal/stream.ts'
import { rememberedDescriptions } from '../../../rehearse/src/media-check.ts'
import { describe } from '../../../src/resources/describe.ts'
import { withChanges } from '../session/harness-parts.ts'
import { openRehearsal } from '../providers/rehearsal-server.ts'
import { value } from '../log/story.ts'
import { wayPlace, type Way, type WayOptions, type WayPlace } from '../providers/ways.ts'

/** A request as the rehearsal model receives it, independent of dialect and transport. */
export interface SeenRequest {
  /** The handle and hash of every file in it, in order. */
  readonly files: readonly string[]
  /** Lines about Resources that are described and not shown. */
  readonly notes: readonly string[]
  /** All texts of user messages, in order, including the notes. */
  readonly texts: readonly string[]
  readonly segments: RehearsalRequest['segments']
}

export interface VisionPlace extends WayPlace {
  /** Every request that reached the model. */
  readonly seen: SeenRequest[]
}

export interface VisionOptions extends WayOptions {
  readonly seen?: SeenRequest[]
  /** Called when a request has reached the model, before its answer. */
  readonly onSeen?: (request: SeenRequest) => void
}

/** A workspace whose model can see images, with a record of every request that reached it. */
export async function visionPlace(way: Way, options: VisionOptions = {}): Promise<VisionPlace> {
  const { seen = [], onSeen = () => {} } = options
  const descriptions = rememberedDescriptions(describe)
  const record = (request: RehearsalRequest) => {
    const one = contentOf(request)
    seen.push(one)
    onSeen(one)
  }
  if (way === 'in process') {
    const provider = rehearsalProvider({ chunk: 64, delayMs: 0, describe: descriptions })
    const recorded: typeof provider = {
      ...provider,
      stream: (body, signal) => {
        record(value(readRequest(body)))
        return provider.stream(body, signal)
      },
    }
    const recording = {
      model: { providerOf: async () => ok(recorded), dialectOf: async () => ok(provider) },
    }
    const changes = withChanges(recording, options.changes ?? {})
    const place = await wayPlace(way, { ...options, changes })
    return { ...place, seen }
  }
  const brain = rehearsalBrain(descriptions)
  const recording = (request: RehearsalRequest) => {
    record(request)
    return brain(request)
  }
  const vendor =
    options.vendor ?? (await openRehearsal({ describe: descriptions, brain: recording }))
  onTestFinished(() => vendor.close())
  return { ...(await wayPlace(way, { ...options, vendor })), seen }
}

function contentOf({ segments }: RehearsalRequest): SeenRequest {
  const parts = segments.flatMap((segment) => (segment.role === 'user' ? segment.parts : []))
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return {
    files: parts.flatMap((part) =>
      part.type === 'blob'
        ? [`${part.handle ?? ''} ${sha256(Buffer.from(part.data, 'base64'))}`]
        : [],
    ),
    notes: texts.flatMap((text) => text.split('\n')).filter((line) => NOTE.test(line)),
    texts,
    segments,
  }
}

const NOTE = /^\[(?:View of )?@[a-z]+\d/

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
