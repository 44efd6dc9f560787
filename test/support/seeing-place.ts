import { createHash } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { ok } from '../../src/model/errors.ts'
import { rehearsalBrain } from '../../src/providers/rehearsal/rehearsal-brain.ts'
import { readRequest, type RehearsalRequest } from '../../src/providers/rehearsal/schema.ts'
import { rehearsalProvider } from '../../src/providers/rehearsal/stream.ts'
import { rememberedSights } from '../../src/providers/rehearsal/wire/media-check.ts'
import { describe } from '../../src/resources/describe.ts'
import { withChanges } from './harness-parts.ts'
import { openRehearsal } from './rehearsal-server.ts'
import { value } from './story.ts'
import { wayPlace, type Way, type WayOptions, type WayPlace } from './ways.ts'

/** A request as the rehearsal model saw it, the same whatever way it came. */
export interface SeenRequest {
  /** Every file in it, in order: what it is called, and the hash of its bytes. */
  readonly files: readonly string[]
  /** What was told of Resources without showing them. */
  readonly notes: readonly string[]
  /** All words of people, in order, the notes among them. */
  readonly texts: readonly string[]
}

export interface SeeingPlace extends WayPlace {
  /** Every request that the model answered or began to answer. */
  readonly seen: SeenRequest[]
}

export interface SeeingOptions extends WayOptions {
  readonly seen?: SeenRequest[]
  /** Called when the model has seen a request and has said nothing yet. */
  readonly onSeen?: (request: SeenRequest) => void
}

/** A workspace whose model has eyes, and remembers what they saw. */
export async function seeingPlace(way: Way, options: SeeingOptions = {}): Promise<SeeingPlace> {
  const { seen = [], onSeen = () => {} } = options
  const sights = rememberedSights(describe)
  const see = (request: RehearsalRequest) => {
    const one = seenIn(request)
    seen.push(one)
    onSeen(one)
  }
  if (way === 'in process') {
    const provider = rehearsalProvider({ chunk: 64, delayMs: 0, describe: sights })
    const watched: typeof provider = {
      ...provider,
      stream: (body, signal) => {
        see(value(readRequest(body)))
        return provider.stream(body, signal)
      },
    }
    const seeing = {
      model: { providerOf: async () => ok(watched), dialectOf: async () => ok(provider) },
    }
    const changes = withChanges(seeing, options.changes ?? {})
    const here = await wayPlace(way, { ...options, changes })
    return { ...here, seen }
  }
  const brain = rehearsalBrain(sights)
  const seeing = (request: RehearsalRequest) => {
    see(request)
    return brain(request)
  }
  const vendor = options.vendor ?? (await openRehearsal({ describe: sights, brain: seeing }))
  onTestFinished(() => vendor.close())
  return { ...(await wayPlace(way, { ...options, vendor })), seen }
}

function seenIn({ segments }: RehearsalRequest): SeenRequest {
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
  }
}

const NOTE = /^\[(?:View of )?@[a-z]+\d/

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
