/** Processors, as in `process.arch`, that have a filter. */
export type FilteredMachine = keyof typeof MACHINES

export interface FilterOrder {
  readonly machine: FilteredMachine
  /** The program starts its own sandboxes, which requires user namespaces. */
  readonly nests: boolean
}

export function isFilteredMachine(machine: string): machine is FilteredMachine {
  return Object.hasOwn(MACHINES, machine)
}

/**
 * A classic BPF program that bubblewrap loads as a seccomp filter. It refuses system calls that leave something behind
 * outside the sandbox, whatever the file system allows, and sockets that no network namespace confines. Pure.
 *
 * A filter cannot inspect calls whose arguments lie in memory (`openat2`, `io_uring`). They return ENOSYS, as on an older
 * kernel, so that programs fall back to calls that can be inspected.
 */
export function seccompFilter({ machine, nests }: FilterOrder): Buffer {
  const { abi, foreignFrom } = MACHINES[machine]
  const rules = [...LEAVES_BEHIND, ...SOCKETS, ...(nests ? AS_A_GUEST : WITHOUT_NAMESPACES)]
  return Buffer.concat([
    // Programs of another ABI (32 bits) use different call numbers.
    load(ARCH),
    unless('equal', abi, [give(KILL)]),
    load(NUMBER),
    ...(foreignFrom === undefined ? [] : [when('atLeast', foreignFrom, [give(errno(ENOSYS))])]),
    ...rules.flatMap((rule) => blockOf(rule, machine)),
    give(ALLOW),
  ])
}

export const EPERM = 1
const ENOSYS = 38
const EOPNOTSUPP = 95

/** Call numbers on x86-64 and 64-bit ARM, where the call exists. */
interface Call {
  readonly x64?: number
  readonly arm64?: number
}

/** The call fails when every test matches; without tests, always. */
interface Rule {
  readonly call: Call
  readonly fails: number
  readonly tests: readonly Test[]
}

/**
 * `any`: one of these bits is set in the argument. `kind`: the file type equals this one. `is`: the argument equals this
 * value. `noneOf`: it equals none of these.
 */
type Test =
  | { readonly argument: number; readonly any: number }
  | { readonly argument: number; readonly kind: number }
  | { readonly argument: number; readonly is: number }
  | { readonly argument: number; readonly noneOf: readonly number[] }

const SET_ID = 0o6000
const CREATES = 0o100 | 0o20000000
const FILE_TYPE = 0o170000
const CHARACTER_DEVICE = 0o020000
const BLOCK_DEVICE = 0o060000
const RENAME_WHITEOUT = 4
const CLONE_NEWUSER = 0x10000000

const everywhere = (number: number): Call => ({ x64: number, arm64: number })

const MKNOD: Call = { x64: 133 }
const MKNODAT: Call = { x64: 259, arm64: 33 }

export const KEYCTL = { x64: 250, arm64: 219 } as const

/** Set-id bits, devices and keyrings outlive the sandbox. */
const LEAVES_BEHIND: readonly Rule[] = [
  setsMode({ x64: 90 }, 1),
  setsMode({ x64: 91, arm64: 52 }, 1),
  setsMode({ x64: 268, arm64: 53 }, 2),
  setsMode(everywhere(452), 2),
  setsMode({ x64: 85 }, 1),
  opens({ x64: 2 }, 1),
  opens({ x64: 257, arm64: 56 }, 2),
  ...makesNode(MKNOD, 1),
  ...makesNode(MKNODAT, 2),
  // Leaves a character device in place of the renamed file; requires no capability since Linux 5.8.
  {
    call: { x64: 316, arm64: 276 },
    fails: EPERM,
    tests: [{ argument: 4, any: RENAME_WHITEOUT }],
  },
  // add_key, request_key, keyctl
  ...[{ x64: 248, arm64: 217 }, { x64: 249, arm64: 218 }, KEYCTL].map((call) =>
    always(call, EPERM),
  ),
  // openat2, io_uring_setup, io_uring_enter, io_uring_register
  ...[437, 425, 426, 427].map((number) => always(everywhere(number), ENOSYS)),
]

export const SOCKET = { x64: 41, arm64: 198 } as const
export const SOCKETPAIR = { x64: 53, arm64: 199 } as const

export const EAFNOSUPPORT = 97
export const AF_INET = 2
export const AF_NETLINK = 16
const AF_UNIX = 1
const AF_INET6 = 10
const NETLINK_ROUTE = 0

/** Netlink only for routing facts. */
export const ALLOWED_FAMILIES: readonly number[] = [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK]

/**
 * A network namespace confines IP, abstract Unix sockets and routing facts. Other families reach past it, such as the
 * hypervisor (vsock), or expose code of the kernel that few programs need. The rules are the same with network access:
 * what a person allows then is the network. Routing facts are what `getaddrinfo` and lists of interfaces read.
 */
const SOCKETS: readonly Rule[] = [
  {
    call: SOCKET,
    fails: EAFNOSUPPORT,
    tests: [{ argument: 0, noneOf: ALLOWED_FAMILIES }],
  },
  {
    call: SOCKET,
    fails: EAFNOSUPPORT,
    tests: [
      { argument: 0, is: AF_NETLINK },
      { argument: 2, noneOf: [NETLINK_ROUTE] },
    ],
  },
  {
    call: SOCKETPAIR,
    fails: EAFNOSUPPORT,
    tests: [{ argument: 0, noneOf: [AF_UNIX] }],
  },
]

/**
 * Root of a namespace may give files capabilities, and where root runs Hawser these also apply outside. The flags of
 * `clone3` lie in memory; C libraries fall back to `clone`.
 */
const WITHOUT_NAMESPACES: readonly Rule[] = [
  { call: { x64: 56, arm64: 220 }, fails: EPERM, tests: [{ argument: 0, any: CLONE_NEWUSER }] },
  { call: { x64: 272, arm64: 97 }, fails: EPERM, tests: [{ argument: 0, any: CLONE_NEWUSER }] },
  always(everywhere(435), ENOSYS),
]

/** A guest may create namespaces, so it may not set attributes at all: a filter cannot read which attribute is set. */
const AS_A_GUEST: readonly Rule[] = [
  // setxattr, lsetxattr, fsetxattr, setxattrat
  always({ x64: 188, arm64: 5 }, EOPNOTSUPP),
  always({ x64: 189, arm64: 6 }, EOPNOTSUPP),
  always({ x64: 190, arm64: 7 }, EOPNOTSUPP),
  always(everywhere(463), EOPNOTSUPP),
]

function always(call: Call, fails: number): Rule {
  return { call, fails, tests: [] }
}

function setsMode(call: Call, argument: number): Rule {
  return { call, fails: EPERM, tests: [{ argument, any: SET_ID }] }
}

/** The mode follows the flags and matters only when a file is created. */
function opens(call: Call, argument: number): Rule {
  const tests = [
    { argument, any: CREATES },
    { argument: argument + 1, any: SET_ID },
  ]
  return { call, fails: EPERM, tests }
}

function makesNode(call: Call, argument: number): Rule[] {
  return [
    setsMode(call, argument),
    { call, fails: EPERM, tests: [{ argument, kind: CHARACTER_DEVICE }] },
    { call, fails: EPERM, tests: [{ argument, kind: BLOCK_DEVICE }] },
  ]
}

/** `abi` is the kernel's AUDIT_ARCH. From `foreignFrom` on, call numbers belong to another ABI with the same value (x32). */
const MACHINES = {
  x64: { abi: 0xc000003e, foreignFrom: 0x40000000 },
  arm64: { abi: 0xc00000b7, foreignFrom: undefined },
} as const

const NUMBER = 0
const ARCH = 4

/**
 * The kernel reads only 32 bits of a mode, a set of flags, a family or a protocol. They come first: both machines are
 * little-endian.
 */
function lowHalf(argument: number): number {
  return 16 + 8 * argument
}

/** Preserves the accumulator, which contains the call number. */
function blockOf({ call, fails, tests }: Rule, machine: FilteredMachine): Buffer[] {
  const number = call[machine]
  if (number === undefined) return []
  const judged = tests.reduceRight<Buffer[]>(
    (inner, test) => [load(lowHalf(test.argument)), ...matchArgument(test, inner)],
    [give(errno(fails))],
  )
  return [when('equal', number, [...judged, load(NUMBER)])]
}

/** Skips `inner` unless the argument, which is loaded, matches. */
function matchArgument(test: Test, inner: readonly Buffer[]): readonly Buffer[] {
  if ('any' in test) return [when('anyBit', test.any, inner)]
  if ('is' in test) return [when('equal', test.is, inner)]
  if ('kind' in test) return [mask(FILE_TYPE), when('equal', test.kind, inner)]
  return test.noneOf.reduceRight((rest, value) => [unless('equal', value, rest)], inner)
}

const ALLOW = 0x7fff0000
const KILL = 0x80000000

function errno(number: number): number {
  return 0x00050000 | number
}

const JUMPS = { equal: 0x15, atLeast: 0x35, anyBit: 0x45 } as const
const INSTRUCTION_BYTES = 8

function load(offset: number): Buffer {
  return instruction(0x20, offset)
}

function mask(bits: number): Buffer {
  return instruction(0x54, bits)
}

function give(verdict: number): Buffer {
  return instruction(0x06, verdict)
}

/** Skips `inner` unless the comparison holds. A jump reaches 255 instructions, far more than any rule needs. */
function when(jump: keyof typeof JUMPS, value: number, inner: readonly Buffer[]): Buffer {
  const body = Buffer.concat(inner)
  return Buffer.concat([instruction(JUMPS[jump], value, 0, body.length / INSTRUCTION_BYTES), body])
}

function unless(jump: keyof typeof JUMPS, value: number, inner: readonly Buffer[]): Buffer {
  const body = Buffer.concat(inner)
  return Buffer.concat([instruction(JUMPS[jump], value, body.length / INSTRUCTION_BYTES, 0), body])
}

/** `struct sock_filter`: code, jump if true, jump if false, operand. */
function instruction(code: number, operand: number, ifTrue = 0, ifFalse = 0): Buffer {
  const bytes = Buffer.alloc(INSTRUCTION_BYTES)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(ifTrue, 2)
  bytes.writeUInt8(ifFalse, 3)
  bytes.writeUInt32LE(operand >>> 0, 4)
  return bytes
}
