import {
  AF_INET,
  AF_NETLINK,
  ALLOWED_FAMILIES,
  EAFNOSUPPORT,
  EPERM,
  KEYCTL,
  SOCKET,
  SOCKETPAIR,
  type FilteredMachine,
} from './seccomp.ts'

/**
 * A minimal ELF executable that runs this machine code: a way to make a system call that Node has no function for. The code
 * starts at `CODE_AT`.
 */
export function rawProgram(machine: FilteredMachine, code: Uint8Array): Buffer {
  const header = Buffer.alloc(HEADER_BYTES + SEGMENT_BYTES)
  header.write('\x7fELF', 'latin1')
  // 64 bits, little-endian, version 1
  header.set([2, 1, 1], 4)
  header.writeUInt16LE(EXECUTABLE, 16)
  header.writeUInt16LE(ELF_MACHINES[machine], 18)
  header.writeUInt32LE(1, 20)
  header.writeBigUInt64LE(BigInt(CODE_AT), 24)
  header.writeBigUInt64LE(BigInt(HEADER_BYTES), 32)
  header.writeUInt16LE(HEADER_BYTES, 52)
  header.writeUInt16LE(SEGMENT_BYTES, 54)
  header.writeUInt16LE(1, 56)
  const size = BigInt(header.length + code.length)
  header.writeUInt32LE(LOADED, HEADER_BYTES)
  header.writeUInt32LE(READ | EXECUTE, HEADER_BYTES + 4)
  header.writeBigUInt64LE(BigInt(LOADED_AT), HEADER_BYTES + 16)
  header.writeBigUInt64LE(BigInt(LOADED_AT), HEADER_BYTES + 24)
  header.writeBigUInt64LE(size, HEADER_BYTES + 32)
  header.writeBigUInt64LE(size, HEADER_BYTES + 40)
  header.writeBigUInt64LE(BigInt(PAGE_BYTES), HEADER_BYTES + 48)
  return Buffer.concat([header, code])
}

/**
 * Makes calls that the filter refuses. First it asks for sockets: netlink of a protocol that every kernel has, a pair of a
 * family that has none, and a stream of every family but the allowed ones; nothing is bound, connected or sent. Then it asks
 * for a new session keyring, which any process that may use keyrings gets. Exits with 0 if each call is refused as the filter
 * does, else with the sum of `NOT_REFUSED`.
 */
export function refusedCallsProgram(machine: FilteredMachine): Buffer {
  const streams = REFUSED_FAMILIES.map((family) => ({
    number: SOCKET[machine],
    args: [family, SOCK_STREAM, 0, 0] as const,
  }))
  const sockets = [
    { number: SOCKET[machine], args: [AF_NETLINK, SOCK_DGRAM, NETLINK_GENERIC, 0] as const },
    { number: SOCKETPAIR[machine], args: [AF_INET, SOCK_STREAM, 0, 0] as const },
    ...streams,
  ]
  const keyring = { number: KEYCTL[machine], args: [JOIN_SESSION_KEYRING, 0, 0, 0] as const }
  return rawProgram(
    machine,
    REFUSED_CODE[machine]([
      ...sockets.map((call) => ({ ...call, error: EAFNOSUPPORT, kind: 'socket' as const })),
      { ...keyring, error: EPERM, kind: 'keyring' },
    ]),
  )
}

/** The bits of the status: a call of this kind was not refused. */
export const NOT_REFUSED = { socket: 1, keyring: 2 } as const

interface RefusedCall {
  readonly number: number
  readonly args: readonly [number, number, number, number]
  readonly error: number
  readonly kind: keyof typeof NOT_REFUSED
}

const JOIN_SESSION_KEYRING = 1
const SOCK_STREAM = 1
const SOCK_DGRAM = 2
const NETLINK_GENERIC = 16
/** Above AF_MAX of every kernel so far. */
const MOST_FAMILIES = 64
const REFUSED_FAMILIES = Array.from({ length: MOST_FAMILIES }, (_, family) => family).filter(
  (family) => !ALLOWED_FAMILIES.includes(family),
)

const HEADER_BYTES = 64
const SEGMENT_BYTES = 56
const EXECUTABLE = 2
const ELF_MACHINES = { x64: 62, arm64: 183 } as const
const LOADED = 1
const READ = 4
const EXECUTE = 1
const LOADED_AT = 0x400000
const PAGE_BYTES = 0x10000

export const CODE_AT = LOADED_AT + HEADER_BYTES + SEGMENT_BYTES

/** Makes the calls in order. Exits with the bits of those that do not fail with their error. */
const REFUSED_CODE: Readonly<Record<FilteredMachine, (calls: readonly RefusedCall[]) => Buffer>> = {
  x64: (calls) => {
    const blocks = calls.map(({ number, args: [a, b, c, d], error, kind }) =>
      Buffer.concat([
        word32('b8', number), // mov eax
        word32('bf', a), // mov edi
        word32('be', b), // mov esi
        word32('ba', c), // mov edx
        word32('41ba', d), // mov r10d
        Buffer.from('0f05', 'hex'), // syscall
        word32('3d', -error), // cmp eax
        Buffer.from('7403', 'hex'), // je past the next instruction
        Buffer.from([0x83, 0xcb, NOT_REFUSED[kind]]), // or ebx
      ]),
    )
    const start = Buffer.from('31db', 'hex') // xor ebx, ebx
    const end = Buffer.from('89dfb8e70000000f05', 'hex') // mov edi, ebx; exit_group
    return Buffer.concat([start, ...blocks, end])
  },
  arm64: (calls) => {
    const blocks = calls.map(({ number, args, error, kind }) =>
      Buffer.concat([
        moveValue(8, number),
        ...args.map((value, register) => moveValue(register, value)),
        word32('', 0xd4000001), // svc #0
        word32('', 0xb100001f | (error << 10)), // cmn x0, #error
        word32('', 0x54000040), // b.eq past the next instruction
        word32('', { socket: 0xb2400273, keyring: 0xb27f0273 }[kind]), // orr x19, x19, #1 or #2
      ]),
    )
    const end = Buffer.concat([
      word32('', 0xaa1303e0), // mov x0, x19
      moveValue(8, 94),
      word32('', 0xd4000001),
    ])
    return Buffer.concat([moveValue(19, 0), ...blocks, end])
  },
}

/** movz, for values of 16 bits. */
function moveValue(register: number, value: number): Buffer {
  return word32('', 0xd2800000 | (value << 5) | register)
}

function word32(prefix: string, value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value >>> 0)
  return Buffer.concat([Buffer.from(prefix, 'hex'), bytes])
}
