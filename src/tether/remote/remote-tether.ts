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
    const call = { method: 'GET', path: at(name, '/instances/:id'), repeatable: true } as const
    return this.#calls.json(call, InstanceInfoAnswer)
  }

  act(name: string, act: InstanceAct): Promise<Result<InstanceInfo>> {
    const call = {
      method: 'POST',
      path: at(name, `/instances/:id/${act}`),
      repeatable: true,
    } as const
    return this.#calls.json(call, InstanceInfoAnswer)
  }

  map(name: string, workspace: string | null): Promise<Result<InstanceInfo>> {
    const call = {
      method: 'PATCH',
      path: at(name, '/instances/:id'),
      body: json({ workspace }),
      repeatable: true,
    } as const
    return this.#calls.json(call, InstanceInfoAnswer)
  }

  async delete(name: string): Promise<Result<InstanceId>> {
    const call = { method: 'DELETE', path: at(name, '/instances/:id'), repeatable: false } as const
    const deleted = await this.#calls.json(call, DeletedInstance)
    return deleted.ok ? ok(deleted.value.deleted) : deleted
  }

  send(name: string, frame: FrameToGuest): Promise<Result<AcceptedFrame>> {
    // Its `msg_id` makes a second one harmless.
    const call = {
      method: 'POST',
      path: at(name, '/instances/:id/tether'),
      body: json(frame),
      repeatable: true,
    } as const
    return this.#calls.json(call, AcceptedFrameShape)
  }

  poll(
    name: string,
    query: FrameQuery,
    { waitMs, signal }: PollOptions = {},
  ): Promise<Result<FramePage>> {
    const asked = parameters({ ...query, wait_ms: waitMs })
    const path = `${at(name, '/instances/:id/tether/poll')}${asked}`
    return this.#calls.json({ method: 'GET', path, signal, repeatable: true }, FramePageShape)
  }

  async follow(
    name: string,
    after_seq: number | undefined,
    filter: FrameFilter,
    signal: AbortSignal,
  ): Promise<Result<AsyncGenerator<LiveFrame, void, void>>> {
    const start = after_seq === undefined ? await this.#newest(name, signal) : ok(after_seq)
    if (!start.ok) return start
    const open = (calls: ServerCalls, after: number, until: AbortSignal) => {
      const path = `${at(name, '/instances/:id/tether/stream')}${parameters({ ...filter, after_seq: after })}`
      return calls.response({ method: 'GET', path, signal: until, repeatable: true })
    }
    const { clock, findAgain } = this.#parts
    return followRemote(
      { clock, first: this.#calls, again: new ServerCalls(findAgain), open },
      {
        after: start.value,
        signal,
      },
    )
  }

  putImage(name: string, { media_type, bytes }: StoredImage): Promise<Result<ImageReference>> {
    const body = { type: media_type, bytes }
    const call = {
      method: 'POST',
      path: at(name, '/instances/:id/blobs'),
      body,
      repeatable: true,
    } as const
    return this.#calls.json(call, ImageAnswer)
  }

  async image(name: string, blob: string): Promise<Result<StoredImage>> {
    const path = at(name, '/instances/:id/blobs/:key').replace(':key', () =>
      encodeURIComponent(blob),
    )
    const found = await this.#calls.bytes({ method: 'GET', path, repeatable: true })
    if (!found.ok) return found
    const type = ImageReference.shape.media_type.safeParse(found.value.type)
    if (!type.success) return failed('invalid_response', 'The local server sent no image.')
    return ok({ media_type: type.data, bytes: found.value.bytes })
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

/** The path of a route for one Instance. A segment of dots would lead to another route, so it becomes a name of none. */
function at(name: string, route: string): string {
  const segment = name === '.' || name === '..' ? `${name}/` : name
  return route.replace(':id', () => encodeURIComponent(segment))
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
