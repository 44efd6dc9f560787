import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Frame, ImageReference } from '../../../src/model/tether/frame.ts'
import type { AcceptedFrame } from '../../../src/tether/tether.ts'
import { guestProgram } from '../cli/guest-bundle.ts'
import { localServer, type LocalServer, type LocalServerOptions } from '../http/local-server.ts'
import { userMessage } from './frames.ts'
import { onlyRecords } from '../session/records.ts'

/** A program that talks to Instances over HTTP, as another gateway would. */
export interface TetherHost extends LocalServer {
  readonly create: (handle: string, more?: object) => Promise<string>
  readonly put: (name: string, bytes: Buffer, type?: string) => Promise<ImageReference>
  readonly say: (
    name: string,
    msg_id: string,
    text: string,
    more?: { readonly images?: readonly ImageReference[]; readonly session?: string },
  ) => Promise<AcceptedFrame>
  /** The frame that ends a message, read after a number. */
  readonly answer: (name: string, msg_id: string, after?: number) => Promise<Frame>
  /** The answer to a message, in one call. */
  readonly ask: (
    name: string,
    msg_id: string,
    text: string,
    images?: readonly ImageReference[],
  ) => Promise<Frame>
}

/** A server with real guests, and a host that uses it. */
export async function tetherHost(options: LocalServerOptions = {}): Promise<TetherHost> {
  const server = await localServer({ program: await guestProgram(), ...options })
  const { api, origin, token } = server
  const sent = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answered = await api(method, path, body)
    if (answered.status >= 300) throw new Error(JSON.stringify(answered.body))
    return answered.body as T
  }
  const at = (name: string, path: string) => `/v1/instances/${name}${path}`
  const say: TetherHost['say'] = (name, msg_id, text, { images, session = 'default' } = {}) => {
    const { payload, ...frame } = userMessage(msg_id, { id: session }, text)
    const own = images === undefined ? payload : { ...payload, images }
    return sent('POST', at(name, '/tether'), { ...frame, payload: own })
  }
  const answer: TetherHost['answer'] = async (name, msg_id, after = 0) => {
    const query = `after_seq=${after}&reply_to_msg_id=${msg_id}&types=assistant.done,error`
    for (;;) {
      const path = at(name, `/tether/poll?${query}&wait_ms=30000`)
      const { frames } = await sent<{ frames: readonly Frame[] }>('GET', path)
      if (frames[0] !== undefined) return frames[0]
    }
  }
  return {
    ...server,
    create: async (handle, more = {}) =>
      (await sent<{ id: string }>('POST', '/v1/instances', { handle, ...more })).id,
    put: async (name, bytes, type = 'image/png') => {
      const answered = await fetch(origin + at(name, '/blobs'), {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': type },
        body: new Uint8Array(bytes),
      })
      if (answered.status !== 201) throw new Error(await answered.text())
      const { media_type, blob, size } = (await answered.json()) as ImageReference
      return { media_type, blob, size }
    },
    say,
    answer,
    ask: async (name, msg_id, text, images) => {
      const { ingress_seq } = await say(name, msg_id, text, images === undefined ? {} : { images })
      return answer(name, msg_id, ingress_seq)
    },
  }
}

/** The names of the blobs of the only Instance in a workspace. */
export async function blobsIn(workspace: string): Promise<string[]> {
  return readdir(join(await onlyRecords(workspace), 'blobs')).catch(() => [])
}
