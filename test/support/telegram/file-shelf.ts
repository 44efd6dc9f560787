import type { ServerResponse } from 'node:http'

/** How a file is served, other than as it is. */
export interface FileTricks {
  /** What Telegram says about it. */
  readonly size?: number | undefined
  readonly path?: string
  /** Where its download is redirected. */
  readonly redirect?: string
  /** Without a length, so that only counting shows how large it is. */
  readonly chunked?: boolean
}

interface ShelvedFile extends FileTricks {
  readonly id: string
  readonly bytes: Buffer
}

const MOST_BYTES = 20 * 1024 * 1024

/** The files that people sent. */
export class FileShelf {
  readonly #files = new Map<string, ShelvedFile>()
  /** Paths that were asked for. */
  readonly asked: string[] = []
  /** Bytes that were sent, of each path. */
  readonly sent = new Map<string, number>()

  /** The id of a file. */
  add(bytes: Buffer, tricks: FileTricks = {}): string {
    const id = `file-${this.#files.size + 1}`
    const size = 'size' in tricks ? tricks.size : bytes.length
    this.#files.set(id, { path: `photos/${id}.jpg`, ...tricks, size, bytes, id })
    return id
  }

  sizeOf(id: string): number | undefined {
    return this.#files.get(id)?.size
  }

  find(id: string): { code: number; result?: object; description?: string } {
    const file = this.#files.get(id)
    if (file === undefined) return { code: 400, description: 'Bad Request: invalid file_id' }
    const { path, size, bytes } = file
    if (bytes.length > MOST_BYTES && size !== undefined && size > MOST_BYTES)
      return { code: 400, description: 'Bad Request: file is too big' }
    const known = size === undefined ? {} : { file_size: size }
    return { code: 200, result: { file_id: id, file_unique_id: id, file_path: path, ...known } }
  }

  serve(path: string, response: ServerResponse): void {
    this.asked.push(path)
    const file = [...this.#files.values()].find((one) => one.path === path)
    if (file === undefined) return void response.writeHead(404).end()
    if (file.redirect !== undefined)
      return void response.writeHead(302, { location: file.redirect }).end()
    const { bytes, chunked = false } = file
    response.writeHead(200, chunked ? {} : { 'content-length': bytes.length })
    let at = 0
    const more = () => {
      while (at < bytes.length && !response.destroyed) {
        const piece = bytes.subarray(at, at + 64 * 1024)
        at += piece.length
        this.sent.set(path, at)
        if (!response.write(piece)) return void response.once('drain', more)
      }
      response.end()
    }
    more()
  }
}
