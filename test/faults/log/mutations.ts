import type { Random } from '../../support/host/random.ts'
import { linesOf } from '../../support/log/raw-log.ts'

/** Ways in which a file can differ from what was written. Each returns new bytes. */
export const MUTATIONS = {
  cut: (bytes: Buffer, chance: Random) => bytes.subarray(0, chance.below(bytes.length)),
  cut_at_line_end: (bytes: Buffer, chance: Random) => {
    const lines = linesOf(bytes)
    return Buffer.concat(lines.slice(0, chance.below(lines.length)))
  },
  flip: (bytes: Buffer, chance: Random) => {
    const copy = Buffer.from(bytes)
    const at = chance.below(copy.length)
    copy[at] = (copy[at] ?? 0) ^ (1 << chance.below(8))
    return copy
  },
  zero_sector: (bytes: Buffer, chance: Random) => {
    const copy = Buffer.from(bytes)
    const start = 512 * chance.below(Math.ceil(copy.length / 512))
    return copy.fill(0, start, Math.min(start + 512, copy.length))
  },
  zero_tail: (bytes: Buffer, chance: Random) => {
    return Buffer.concat([bytes, Buffer.alloc(1 + chance.below(5000))])
  },
  garbage_tail: (bytes: Buffer, chance: Random) => {
    return Buffer.concat([bytes, chance.bytes(1 + chance.below(700))])
  },
  glue: (bytes: Buffer, chance: Random) => {
    const lines = linesOf(bytes)
    const at = chance.below(lines.length)
    return Buffer.concat(lines.map((line, i) => (i === at ? line.subarray(0, -1) : line)))
  },
  duplicate: (bytes: Buffer, chance: Random) => {
    const lines = linesOf(bytes)
    const at = chance.below(lines.length)
    return Buffer.concat(lines.flatMap((line, i) => (i === at ? [line, line] : [line])))
  },
  drop: (bytes: Buffer, chance: Random) => {
    const lines = linesOf(bytes)
    return Buffer.concat(lines.toSpliced(chance.below(lines.length), 1))
  },
  swap: (bytes: Buffer, chance: Random) => {
    const lines = linesOf(bytes)
    const from = chance.below(lines.length)
    const moved = lines.toSpliced(from, 1)
    const line = lines[from] ?? Buffer.alloc(0)
    return Buffer.concat(moved.toSpliced(chance.below(lines.length), 0, line))
  },
} as const
