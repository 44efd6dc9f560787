import { sha256 } from '../../../src/encoding/hash.ts'
import { failed, ok, type Failed, type Result } from '../../../src/model/errors.ts'
import { BLOB_EXTENSIONS, InstanceId } from '../../../src/model/ids.ts'
import type { Frame } from '../../../src/model/tether/frame.ts'
import { InstanceHandle } from '../../../src/model/tether/instance.ts'
import type { FrameQuery } from '../../../src/tether/frames/frame-query.ts'
import type { InstanceInfo, StoredImage, Tether } from '../../../src/tether/tether.ts'

/** Instances in memory, whose calls are counted. There are no agents: a test answers for them. */
export interface CountedTether extends Tether {
  /** What was called, by method. */
  readonly calls: readonly string[]
  /** Reads that wait for a frame. */
  readonly waiting: number
  readonly images: Map<string, StoredImage>
  add(frame: Omit<Frame, 'seq'>): Frame
}

/** Frames and images belong to all Instances: `bare` has no workspace, `off` is disabled, all others exist. */
export function countedTether(): CountedTether {
  const frames: Frame[] = []
  const calls: string[] = []
  const images = new Map<string, StoredImage>()
  const waiters = new Set<() => void>()
  const found = (query: FrameQuery) => {
    const { after_seq = 0, types, reply_to_msg_id, session_id } = query
    return frames.filter(
      (frame) =>
        frame.seq > after_seq &&
        (types?.includes(frame.type) ?? true) &&
        (session_id === undefined || frame.session.id === session_id) &&
        (reply_to_msg_id === undefined || frame.in_reply_to === reply_to_msg_id),
    )
  }
  const called = <T>(method: string, value: T): Promise<Result<T>> => {
    calls.push(method)
    return Promise.resolve(ok(value))
  }
  const tether: CountedTether = {
    calls,
    get waiting() {
      return waiters.size
    },
    images,
    add: (added) => {
      const frame = { ...added, seq: frames.length + 1 } as Frame
      frames.push(frame)
      for (const wake of waiters) wake()
      return frame
    },
    create: ({ handle, workspace }, by) =>
      called(`create ${String(workspace)} ${by}`, instance(String(handle))),
    list: () => called('list', [instance('a'), instance('bare')]),
    info: (name) =>
      name === 'nobody' ? Promise.resolve(unknown()) : called('info', instance(name)),
    act: (name, act) =>
      called(act, { ...instance(name), state: act === 'stop' ? 'stopped' : 'running' }),
    map: (name) => called('map', instance(name)),
    delete: (name) => called('delete', instance(name).id),
    send: (name, frame) => {
      if (name === 'nobody') return Promise.resolve(unknown())
      const { msg_id, session } = frame
      const { seq: ingress_seq } = tether.add(frame)
      return called('send', { msg_id, session_id: session.id, ingress_seq })
    },
    poll: async (name, query, { waitMs = 0, signal } = {}) => {
      calls.push('poll')
      if (name === 'nobody') return unknown()
      const waits = () => found(query).length === 0 && waitMs > 0 && signal?.aborted !== true
      while (waits()) {
        await new Promise<void>((resolve) => {
          const wake = () => {
            waiters.delete(wake)
            resolve()
          }
          waiters.add(wake)
          signal?.addEventListener('abort', wake)
        })
      }
      const page = found(query).slice(0, query.limit ?? 50)
      const next_seq = page.at(-1)?.seq ?? query.after_seq ?? 0
      return ok({ frames: page, next_seq, timed_out: page.length === 0, first_available_seq: 1 })
    },
    follow: () => Promise.resolve(failed('internal', 'No stream.')),
    putImage: (_name, image) => {
      const { media_type, bytes } = image
      const blob = `${sha256(bytes)}.${BLOB_EXTENSIONS[media_type]}`
      images.set(blob, image)
      return called('putImage', { media_type, blob, size: bytes.length })
    },
    image: (_name, blob) => {
      const image = images.get(blob)
      const gone = failed('resource_missing', `The image ${blob} is missing.`)
      return image === undefined ? Promise.resolve(gone) : called('image', image)
    },
  }
  return tether
}

function instance(name: string): InstanceInfo {
  return {
    id: InstanceId.parse('ins_01kaaaaaaaaaaaaaaaaaaaaaaa'),
    created: '2026-11-17T10:00:00.000Z',
    handle: InstanceHandle.parse(name),
    ...(name === 'bare' ? {} : { workspace: '/work' }),
    isolation: 'sandbox',
    enabled: name !== 'off',
    idle: { pause_seconds: 60, stop_seconds: 300 },
    state: 'stopped',
    waiting: 0,
    spend: { usd: 0, calls: 0 },
  }
}

function unknown(): Failed {
  return failed('not_found', 'This Instance does not exist.', {}, [
    { action: 'List all Instances.', command: 'hawser instance list' },
  ])
}
