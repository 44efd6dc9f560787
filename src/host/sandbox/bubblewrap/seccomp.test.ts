import { describe, expect, test } from 'vitest'
import { isFilteredMachine, seccompFilter, type FilteredMachine } from './seccomp.ts'

const ALLOWED = 'allowed'
const EPERM = 1
const ENOSYS = 38
const EOPNOTSUPP = 95
const EAFNOSUPPORT = 97

const X64 = 0xc000003e
const I386 = 0x40000003
const ARM64 = 0xc00000b7
const ARM = 0x40000028

/** A system call as the kernel passes it to a filter. */
interface SystemCall {
  readonly abi: number
  readonly number: number
  readonly args?: readonly bigint[]
}

/** Interprets the filter as the kernel does and returns the verdict. */
function verdict(filter: Buffer, { abi, number, args = [] }: SystemCall): string | number {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(number >>> 0, 0)
  data.writeUInt32LE(abi, 4)
  for (const [index, value] of args.entries())
    data.writeBigUInt64LE(BigInt.asUintN(64, value), 16 + 8 * index)
  let accumulator = 0
  for (let at = 0; at < filter.length / 8; at++) {
    const code = filter.readUInt16LE(8 * at)
    const operand = filter.readUInt32LE(8 * at + 4)
    const jump = (holds: boolean) => (at += filter.readUInt8(8 * at + (holds ? 2 : 3)))
    if (code === 0x20) accumulator = data.readUInt32LE(operand)
    else if (code === 0x54) accumulator = (accumulator & operand) >>> 0
    else if (code === 0x15) jump(accumulator === operand)
    else if (code === 0x35) jump(accumulator >= operand)
    else if (code === 0x45) jump((accumulator & operand) !== 0)
    else if (code === 0x06) return named(operand)
    else throw new Error(`instruction ${code.toString(16)} is unknown`)
  }
  throw new Error('the filter did not return')
}

function named(operand: number): string | number {
  if (operand === 0x7fff0000) return ALLOWED
  if (operand === 0x80000000) return 'killed'
  if (operand >>> 16 === 5) return operand & 0xffff
  throw new Error(`verdict ${operand.toString(16)} is unknown`)
}

/** The position of the mode argument of each call, and the flags with which it creates a file. Numbers by machine. */
const MODES: Readonly<Record<string, readonly [Partial<Record<FilteredMachine, number>>, number]>> =
  {
    chmod: [{ x64: 90 }, 1],
    fchmod: [{ x64: 91, arm64: 52 }, 1],
    fchmodat: [{ x64: 268, arm64: 53 }, 2],
    fchmodat2: [{ x64: 452, arm64: 452 }, 2],
    creat: [{ x64: 85 }, 1],
    mknod: [{ x64: 133 }, 1],
    mknodat: [{ x64: 259, arm64: 33 }, 2],
  }
const OPENS: typeof MODES = { open: [{ x64: 2 }, 1], openat: [{ x64: 257, arm64: 56 }, 2] }

const MACHINES = [
  ['x64', X64],
  ['arm64', ARM64],
] as const

/** The argument at `index`, after arguments that would be refused if the filter checked them. */
function argumentAt(index: number, ...values: readonly bigint[]): bigint[] {
  return [...Array.from({ length: index }, () => 0o7777n), ...values]
}

describe.each(MACHINES)('on %s', (machine, abi) => {
  const filter = seccompFilter({ machine, nests: false })
  const guests = seccompFilter({ machine, nests: true })
  const calls = (table: typeof MODES) =>
    Object.values(table).flatMap(([numbers, argument]) => {
      const number = numbers[machine]
      return number === undefined ? [] : [{ number, argument }]
    })

  test('every call that takes a mode refuses set-id bits and nothing else', () => {
    const wrong = []
    for (let mode = 0; mode <= 0o7777; mode++) {
      const expected = (mode & 0o6000) === 0 ? ALLOWED : EPERM
      for (const { number, argument } of calls(MODES)) {
        const args = argumentAt(argument, BigInt(mode))
        const verdicts = [filter, guests].map((one) => verdict(one, { abi, number, args }))
        if (verdicts.some((one) => one !== expected)) wrong.push({ number, mode, given: verdicts })
      }
    }
    expect(wrong).toEqual([])
  })

  test('bits above the 32nd are ignored', () => {
    const above = 0xffffffffn << 32n
    for (const { number, argument } of calls(MODES)) {
      const judged = (mode: bigint) =>
        verdict(filter, { abi, number, args: argumentAt(argument, mode) })
      expect(judged(above | 0o4755n)).toBe(EPERM)
      expect(judged(above | 0o755n)).toBe(ALLOWED)
    }
  })

  test('opening is refused only when it creates a file with a set-id bit', () => {
    const [CREATE, TEMPORARY, WRITE] = [0o100n, 0o20000000n, 1n]
    for (const { number, argument } of calls(OPENS)) {
      const judged = (flags: bigint, mode: bigint) =>
        verdict(filter, { abi, number, args: argumentAt(argument, flags, mode) })
      expect(judged(CREATE | WRITE, 0o4755n)).toBe(EPERM)
      expect(judged(TEMPORARY | WRITE, 0o2644n)).toBe(EPERM)
      expect(judged(CREATE | WRITE, 0o1777n)).toBe(ALLOWED)
      expect(judged(WRITE, 0o6777n)).toBe(ALLOWED)
    }
  })

  test('creating devices is refused; pipes, sockets and files are allowed', () => {
    const kinds = { 0o020000: EPERM, 0o060000: EPERM }
    for (const kind of [0, 0o010000, 0o020000, 0o060000, 0o100000, 0o140000]) {
      const number = machine === 'x64' ? 259 : 33
      const args = argumentAt(2, BigInt(kind | 0o644))
      const expected = kinds[kind as keyof typeof kinds] ?? ALLOWED
      expect(verdict(filter, { abi, number, args }), kind.toString(8)).toBe(expected)
    }
  })

  test('a rename that leaves a device behind is refused; others are allowed', () => {
    const number = machine === 'x64' ? 316 : 276
    for (const flags of [0, 1, 2, 4, 5, 7]) {
      const expected = (flags & 4) === 0 ? ALLOWED : EPERM
      expect(verdict(filter, { abi, number, args: argumentAt(4, BigInt(flags)) })).toBe(expected)
    }
  })

  test('keyrings are refused, and calls that a filter cannot inspect return ENOSYS', () => {
    const keyrings = machine === 'x64' ? [248, 249, 250] : [217, 218, 219]
    for (const number of keyrings)
      for (const one of [filter, guests]) expect(verdict(one, { abi, number })).toBe(EPERM)
    for (const number of [425, 426, 427, 437])
      for (const one of [filter, guests]) expect(verdict(one, { abi, number })).toBe(ENOSYS)
  })

  test('user namespaces are refused except for guests, which cannot set attributes', () => {
    const [clone, unshare] = machine === 'x64' ? [56, 272] : [220, 97]
    for (const number of [clone, unshare]) {
      const args = [0x10000000n | 17n]
      expect(verdict(filter, { abi, number, args })).toBe(EPERM)
      expect(verdict(guests, { abi, number, args })).toBe(ALLOWED)
      expect(verdict(filter, { abi, number, args: [0x20000000n | 17n] })).toBe(ALLOWED)
    }
    expect(verdict(filter, { abi, number: 435 })).toBe(ENOSYS)
    expect(verdict(guests, { abi, number: 435 })).toBe(ALLOWED)
    for (const number of [...(machine === 'x64' ? [188, 189, 190] : [5, 6, 7]), 463]) {
      expect(verdict(guests, { abi, number })).toBe(EOPNOTSUPP)
      expect(verdict(filter, { abi, number })).toBe(ALLOWED)
    }
  })

  test('sockets are refused except Unix, IP and routing facts, and pairs except Unix', () => {
    const [socket, pair] = machine === 'x64' ? [41, 53] : [198, 199]
    const families = [...Array.from({ length: 64 }, (_, family) => family), -1, 0x7fffffff, 257]
    const wrong = []
    for (const above of [0n, 1n << 32n, 0xffffffffn << 32n])
      for (const family of families)
        for (const protocol of [0, 1, 4, 15, 16, 22, -1]) {
          const low = (value: number) => above | BigInt.asUintN(32, BigInt(value))
          const args = [low(family), low(1), low(protocol)]
          const isAllowed = [1, 2, 10].includes(family) || (family === 16 && protocol === 0)
          const expected = [
            isAllowed ? ALLOWED : EAFNOSUPPORT,
            family === 1 ? ALLOWED : EAFNOSUPPORT,
          ]
          for (const one of [filter, guests]) {
            const given = [socket, pair].map((number) => verdict(one, { abi, number, args }))
            if (given.join() !== expected.join()) wrong.push({ above, family, protocol, given })
          }
        }
    expect(wrong).toEqual([])
  })

  test('calls of another ABI are refused, whatever their number', () => {
    const others = [I386, ARM, 0, machine === 'x64' ? ARM64 : X64]
    for (const other of others)
      for (const number of [0, 15, 90, 0xffffffff])
        expect(verdict(filter, { abi: other, number })).toBe('killed')
  })
})

test('x32 calls return ENOSYS', () => {
  const filter = seccompFilter({ machine: 'x64', nests: false })
  for (const number of [0x40000000, 0x4000005a, 0x40000000 + 257, 0xffffffff])
    expect(verdict(filter, { abi: X64, number })).toBe(ENOSYS)
})

test('reports which machines have a filter', () => {
  expect(['x64', 'arm64', 'riscv64', 'ia32', 'toString'].filter(isFilteredMachine)).toEqual([
    'x64',
    'arm64',
  ])
})
