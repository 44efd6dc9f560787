import { readFile, type FileHandle } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import type { LogAmounts } from './log-growth.ts'

/** Parameters of the round trips. */
export interface FloorOptions extends LogAmounts {
  /** The number of round trips assumed to precede, and the size of the next request in bytes. */
  readonly trips: number
  readonly bytes: number
  readonly url: string
  /** The file that is read each time. */
  readonly path: string
  readonly log: FileHandle
}

/**
 * Tool round trips without a harness: sends a request and reads its answer to the end, reads a file, joins the whole
 * conversation again, and writes and syncs as much and as often as a Turn.
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

  /** One round trip with a request of this many bytes. */
  async trip(bytes: number): Promise<void> {
    if (this.#options === undefined) throw new Error('the floor has not begun')
    const { url, path, log, log_bytes, syncs } = this.#options
    const call = Buffer.from(JSON.stringify({ path }))
    const result = await readFile(path)
    this.#add(call)
    // The bytes around a result in a request, as zeros.
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

/** About half of what a round trip adds to a request. */
const PIECE_BYTES = 300
