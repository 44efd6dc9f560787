import { isUtf8 } from 'node:buffer'

/**
 * A name on disk is any bytes. As a string, each byte that is not UTF-8 is a lone surrogate (U+DC80 to U+DCFF), so that every
 * name is a string of its own and comes back as the same bytes.
 */
export function nameOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  let name = ''
  for (let at = 0; at < bytes.length;) {
    const length = [1, 2, 3, 4].find((count) => isLetter(bytes.subarray(at, at + count), count))
    name +=
      length === undefined
        ? String.fromCharCode(FIRST + (bytes[at] ?? 0))
        : bytes.toString('utf8', at, at + length)
    at += length ?? 1
  }
  return name
}

/** A path that the system accepts: the string itself, or its bytes if it is not UTF-8. */
export function systemPath(path: string): string | Buffer {
  if (!LONE.test(path)) return path
  const parts = path.split(LONE)
  return Buffer.concat(
    parts.map((part, at) =>
      at % 2 === 0 ? Buffer.from(part) : Buffer.from([part.charCodeAt(0) - FIRST]),
    ),
  )
}

const FIRST = 0xdc00
const LONE = /(?<![\uD800-\uDBFF])([\uDC80-\uDCFF])/

function isLetter(bytes: Buffer, count: number): boolean {
  return bytes.length === count && isUtf8(bytes) && Array.from(bytes.toString('utf8')).length === 1
}
