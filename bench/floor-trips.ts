import { readFile, type FileHandle } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import type { LogAmounts } from './log-growth.ts'

/** What round trips are made of. */
export interface FloorOptions extends LogAmounts {
  /** So many are taken as made already, and the next request has so many bytes. */
  readonly trips: number
  readonly bytes: number
  readonly url: string
  /** Of the file that is read each time. */
  readonly path: string
  readonly log: FileHandle
}

/**
 * Tool round trips without a harness: a request is sent and its answer read to the end, a file is read, all that was said is
 * joined anew, and as much is written and synced as often as by a Turn.
 */
export class FloorTrips {
  readonly #agent = new Agent({ keepAlive: true })
  #options: FloorOptions | undefined
  #pieces: Buffer[] = []
  #length = 0

  begin(options: FloorOptions): void {
    this.#options = options
    const said = Array.from({ length: 2 * options.trips }, () => Buffer.alloc(PIECE_BYTES, 'x'))
    const head = Buffer.alloc(Math.max(0, options.bytes - said.length * PIECE_BYTES), 'x')
    this.#pieces = [head]
    this.#length = head.length
    for (const piece of said) this.#add(piece)
  }

  /** One round trip, whose request has so many bytes. */
  async trip(bytes: number): Promise<void> {
    if (this.#options === undefined) throw new Error('the floor has not begun')
    const { url, path, log, log_bytes, syncs } = this.#options
    const call = Buffer.from(JSON.stringify({ path }))
    const result = await readFile(path)
    this.#add(call)
    // What stands around a result in a request, as zeros.
    this.#add(Buffer.concat([result], Math.max(0, bytes - this.#length)))
    const body = Buffer.concat(this.#pieces)
    const writes = Math.round(syncs)
    for (let write = 0; write < writes; write += 1) {
      await log.write(Buffer.alloc(Math.round(log_bytes / writes), 'x'))
      await log.datasync()
    }
    await this.#post(url, body)
  }

  #add(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#length += piece.length
  }

  /** Resolves to the answer when it has ended. */
  #post(url: string, body: Buffer): Promise<string> {
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    return new Promise((resolve, reject) => {
      const options = { method: 'POST', headers, agent: this.#agent }
      const sent = request(url, options, (answer) => {
        const said: Buffer[] = []
        answer.on('data', (piece: Buffer) => said.push(piece))
        answer.once('end', () => resolve(Buffer.concat(said).toString('utf8')))
        answer.once('error', reject)
      })
      sent.once('error', reject)
      sent.end(body)
    })
  }
}

/** Half of what a round trip adds to a request, about. */
const PIECE_BYTES = 300
