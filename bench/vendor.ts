import { fork } from 'node:child_process'
import { on, once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { sseOf } from '../test/support/providers/vendor-answer.ts'
import type { VendorDialect } from '../test/support/providers/vendor-schemas.ts'
import { bundled } from './bundled.ts'
import type { VendorAnswers } from './vendor-answers.ts'

/** A vendor on this machine, in a separate process. */
export interface Vendor {
  /**
   * The address of a dialect, where `calls` calls to read a file precede each text answer, repeatedly.
   * Clients with different names are independent.
   */
  baseUrl(dialect: VendorDialect, calls: number, name: string): string
  /** The next request to an address. */
  requestTo(baseUrl: string): Promise<VendorRequest>
  close(): void
}

export type VendorRequest = z.infer<typeof VendorRequest>

const VendorRequest = z.object({
  path: z.string(),
  bytes: z.number(),
  /** The time of the last byte, by the clock of `process.hrtime`, which all processes share. */
  at_ms: z.number(),
})

const Listening = z.tuple([z.object({ port: z.number() })]).rest(z.unknown())

const ID_OF_CALL = '############'
const PLACES: Readonly<Record<VendorDialect, string>> = {
  messages: '/v1/messages',
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
}

/** The answers read the file at `path`. */
export async function vendor(folder: string, path: string): Promise<Vendor> {
  const program = await bundled('vendor.worker.ts', join(folder, 'vendor'))
  const file = join(folder, 'answers.json')
  await writeFile(file, JSON.stringify(answersFor(path)))
  const child = fork(program, [file, ID_OF_CALL], { execArgv: [] })
  const [{ port }] = Listening.parse(await once(child, 'message'))
  const origin = `http://127.0.0.1:${port}`
  return {
    baseUrl: (dialect, calls, name) => {
      const place = `${origin}/${calls}/${name}-${dialect}`
      return dialect === 'messages' ? place : `${place}/v1`
    },
    requestTo: async (baseUrl) => {
      for await (const [message] of on(child, 'message')) {
        const request = VendorRequest.parse(message)
        if (`${origin}${request.path}`.startsWith(baseUrl)) return request
      }
      throw new Error('the vendor process has exited')
    },
    close: () => child.disconnect(),
  }
}

function answersFor(path: string): VendorAnswers {
  const call = { id: `call_${ID_OF_CALL}`, name: 'read', arguments: JSON.stringify({ path }) }
  return {
    [PLACES.messages]: answersIn('messages'),
    [PLACES.responses]: answersIn('responses'),
    [PLACES.chat]: answersIn('chat'),
  }

  function answersIn(dialect: VendorDialect) {
    return {
      call: sseOf(dialect, { calls: [call] }).toString('utf8'),
      words: sseOf(dialect, { text: 'All is read.' }).toString('utf8'),
    }
  }
}
