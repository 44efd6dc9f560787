import { crc32 } from 'node:zlib'

/** A JSON line whose last member, `crc`, is the CRC-32 of the bytes before it. */
export interface ChecksumLine {
  /** Including the newline. */
  readonly bytes: Buffer
  readonly crc: string
}

const CHECKSUM_TAIL = /^,"crc":"([0-9a-f]{8})"\}$/
/** The length of the member, its comma and the closing brace. */
export const CHECKSUM_LENGTH = ',"crc":"01234567"}'.length

/** Completes the JSON text of an object without its closing brace. */
export function checksumLine(body: string): ChecksumLine {
  const length = Buffer.byteLength(body)
  const bytes = Buffer.allocUnsafe(length + CHECKSUM_LENGTH + 1)
  bytes.write(body, 'utf8')
  const crc = crc32(bytes.subarray(0, length)).toString(16).padStart(8, '0')
  bytes.write(`,"crc":"${crc}"}\n`, length, 'latin1')
  return { bytes, crc }
}

/** The checksum comes last, so the bytes it covers are known before parsing. `bytes` excludes the newline. */
export function checksumHolds(bytes: Buffer): boolean {
  const body = bytes.length - CHECKSUM_LENGTH
  if (body <= 0) return false
  const match = CHECKSUM_TAIL.exec(bytes.toString('latin1', body))
  return match?.[1] !== undefined && parseInt(match[1], 16) === crc32(bytes.subarray(0, body))
}
