import * as z from 'zod'
import type { Clock } from '../../host/clock.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { InstanceId } from '../../model/ids.ts'
import { ImageReference, type FrameToGuest } from '../../model/tether/frame.ts'
import type { LiveFrame, PollOptions } from '../frames/frame-log.ts'
import type { FrameFilter, FramePage, FrameQuery } from '../frames/frame-query.ts'
import type { InstanceRequest } from '../../model/tether/instance.ts'
import { AcceptedFrameShape, FramePageShape, InstanceInfoShape } from '../tether-shapes.ts'
import type {
  AcceptedFrame,
  InstanceAct,
  InstanceCreator,
  InstanceInfo,
  StoredImage,
  Tether,
} from '../tether.ts'
import { invalidImageKey, isInstanceName, noSuchInstance } from '../instance-name.ts'
import { followRemote } from './remote-frames.ts'
import { ServerCalls, type FindServer } from './server-calls.ts'

export interface RemoteTetherParts {
  /** For every request; may start the server. */
  readonly find: FindServer
  /** For a live stream that was cut off: it waits for a server, and starts none. */
  readonly findAgain: FindServer
  readonly clock: Clock
}

/** The Instances of a home through its local server. */
export class RemoteTether implements Tether {
  readonly #parts: RemoteTetherParts
  readonly #calls: ServerCalls

  constructor(parts: RemoteTetherParts) {
    this.#parts = parts
    this.#calls = new ServerCalls(parts.find)
  }

  create(request: InstanceRequest, by: InstanceCreator): Promise<Result<InstanceInfo>> {
    const path = by === 'operator' ? '/instances' : `/instances?by=${by}`
    const call = { method: 'POST', path, body: json(request), repeatable: false } as const
    return this.#calls.json(call, InstanceInfoAnswer)
  }

  async list(): Promise<Result<readonly InstanceInfo[]>> {
    const call = { method: 'GET', path: '/instances', repeatable: true } as const
    const listed = await this.#calls.json(call, InstanceList)
    return listed.ok ? ok(listed.value.instances) : listed
  }

  info(name: string): Promise<Result<InstanceInfo>> {
    return this.#of(name, (path) =>
      this.#calls.json({ method: 'GET', path, repeatable: true }, InstanceInfoAnswer),
    )
  }

  act(name: string, act: InstanceAct): Promise<Result<InstanceInfo>> {
    return this.#of(name, (path) => {
      const call = { method: 'POST', path: `${path}/${act}`, repeatable: true } as const
      return this.#calls.json(call, InstanceInfoAnswer)
    })
  }

  map(name: string, workspace: string | null): Promise<Result<InstanceInfo>> {
    return this.#of(name, (path) => {
      const call = { method: 'PATCH', path, body: json({ workspace }), repeatable: true } as const
      return this.#calls.json(call, InstanceInfoAnswer)
    })
  }

  delete(name: string): Promise<Result<InstanceId>> {
    return this.#of(name, async (path) => {
      const call = { method: 'DELETE', path, repeatable: false } as const
      const deleted = await this.#calls.json(call, DeletedInstance)
      return deleted.ok ? ok(deleted.value.deleted) : deleted
    })
  }

  send(name: string, frame: FrameToGuest): Promise<Result<AcceptedFrame>> {
    return this.#of(name, (path) => {
      // Its `msg_id` makes a second one harmless.
      const call = { method: 'POST', path: `${path}/tether`, repeatable: true } as const
      return this.#calls.json({ ...call, body: json(frame) }, AcceptedFrameShape)
    })
  }

  poll(
    name: string,
    query: FrameQuery,
    { waitMs, signal }: PollOptions = {},
  ): Promise<Result<FramePage>> {
    return this.#of(name, (base) => {
      const path = `${base}/tether/poll${parameters({ ...query, wait_ms: waitMs })}`
      return this.#calls.json({ method: 'GET', path, signal, repeatable: true }, FramePageShape)
    })
  }

  async follow(
    name: string,
    after_seq: number | undefined,
    filter: FrameFilter,
    signal: AbortSignal,
  ): Promise<Result<AsyncGenerator<LiveFrame, void, void>>> {
    return this.#of(name, async (base) => {
      const start = after_seq === undefined ? await this.#newest(name, signal) : ok(after_seq)
      if (!start.ok) return start
      const open = (calls: ServerCalls, after: number, until: AbortSignal) => {
        const path = `${base}/tether/stream${parameters({ ...filter, after_seq: after })}`
        return calls.response({ method: 'GET', path, signal: until, repeatable: true })
      }
      const { clock, findAgain } = this.#parts
      const stream = { clock, first: this.#calls, again: new ServerCalls(findAgain), open }
      return followRemote(stream, { after: start.value, signal })
    })
  }

  putImage(name: string, { media_type, bytes }: StoredImage): Promise<Result<ImageReference>> {
    return this.#of(name, (base) => {
      const body = { type: media_type, bytes }
      const call = { method: 'POST', path: blobsOf(base), body, repeatable: true } as const
      return this.#calls.json(call, ImageAnswer)
    })
  }

  image(name: string, blob: string): Promise<Result<StoredImage>> {
    return this.#of(name, async (base) => {
      const key = ImageReference.shape.blob.safeParse(blob)
      if (!key.success) return invalidImageKey()
      const path = `${blobsOf(base)}/${key.data}`
      const found = await this.#calls.bytes({ method: 'GET', path, repeatable: true })
      if (!found.ok) return found
      const type = ImageReference.shape.media_type.safeParse(found.value.type)
      if (!type.success) return failed('invalid_response', 'The local server sent no image.')
      return ok({ media_type: type.data, bytes: found.value.bytes })
    })
  }

  /** Requests about one Instance, by the path of its routes. A text that can name none is not sent. */
  async #of<T>(name: string, work: (path: string) => Promise<Result<T>>): Promise<Result<T>> {
    return isInstanceName(name) ? work(`/instances/${name}`) : noSuchInstance(name)
  }

  /** The cursor after which the next frame comes, so that a stream that is cut off early misses nothing. */
  async #newest(name: string, signal: AbortSignal): Promise<Result<number>> {
    const page = await this.poll(name, { before_seq: LAST, limit: 1 }, { signal })
    if (!page.ok) return page
    return ok(page.value.frames[0]?.seq ?? page.value.first_available_seq - 1)
  }
}

const LAST = Number.MAX_SAFE_INTEGER

/** `ok` is a field of the response, not of an Instance. */
const InstanceInfoAnswer = InstanceInfoShape.transform((answer): InstanceInfo => {
  const { ok: _, ...info }: InstanceInfo & { readonly ok?: unknown } = answer
  return info
})
const InstanceList = z.object({ instances: z.array(InstanceInfoShape) })
const DeletedInstance = z.object({ deleted: InstanceId })
const ImageAnswer = z
  .object({ ok: z.literal(true), ...ImageReference.shape })
  .transform(({ media_type, blob, size }) => ({ media_type, blob, size }))
  .pipe(ImageReference)

function json(value: object): { readonly type: string; readonly bytes: Uint8Array } {
  return { type: 'application/json', bytes: Buffer.from(JSON.stringify(value)) }
}

/** The route of the images of an Instance, by the path of its routes. */
function blobsOf(base: string): string {
  return '/instances/:id/blobs'.replace('/instances/:id', () => base)
}

/** A query, without fields that are absent. */
function parameters(
  values: Readonly<Record<string, string | number | readonly string[] | undefined>>,
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values))
    if (value !== undefined) query.set(name, String(value))
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}
