import type { RequestOptions } from 'node:http'
import { failed, ok, type Result } from '../../model/errors.ts'
import { ADDRESS } from '../net/request-guard.ts'
import type { AnnouncedServer } from './server-lock.ts'

/** What the server of a home does for who can read its record: issue a code for its page, stop, or serve Telegram otherwise. */
export type ControlPath = '/control/page' | '/control/stop' | '/control/telegram'

const ANSWER_MS = 5_000
const MOST_CHARACTERS = 64 * 1024

/**
 * Asks the server that wrote this record, and no other: a process that took its place, or its port, does not know `control`
 * and learns nothing that is worth anything. The token is not sent. Prefers the socket, which also reaches into another
 * container. `network` if nothing answers.
 */
export async function askServer(
  { record: { socket, origin }, control }: AnnouncedServer,
  path: ControlPath,
  more: Readonly<Record<string, string>> = {},
): Promise<Result<string>> {
  const port = /^http:\/\/127\.0\.0\.1:(\d{1,5})$/.exec(origin)?.[1]
  const places: RequestOptions[] = [
    ...(socket === undefined ? [] : [{ socketPath: socket }]),
    ...(port === undefined ? [] : [{ host: ADDRESS, port }]),
  ]
  for (const place of places) {
    const answer = await post(place, path, JSON.stringify({ ...more, control }))
    if (answer === undefined) continue
    if (answer.status < 300) return ok(answer.body)
    return failed('permission_denied', 'Another server answers in place of the local server.')
  }
  return failed('network', 'The local server does not answer.')
}

/** `undefined` if there was no complete response. */
async function post(place: RequestOptions, path: ControlPath, body: string) {
  const { request } = await import('node:http')
  return new Promise<{ readonly status: number; readonly body: string } | undefined>((resolve) => {
    const headers = { 'content-type': 'application/json', connection: 'close' }
    const signal = AbortSignal.timeout(ANSWER_MS)
    const asked = request({ ...place, path, method: 'POST', headers, signal }, (incoming) => {
      let text = ''
      incoming.setEncoding('utf8').on('data', (piece: string) => {
        text = (text + piece).slice(0, MOST_CHARACTERS)
      })
      incoming.once('end', () => resolve({ status: incoming.statusCode ?? 0, body: text }))
      incoming.once('close', () => resolve(undefined))
    })
    asked.once('error', () => resolve(undefined)).end(body)
  })
}
