import type { FilteredMachine } from './seccomp.ts'

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
 * Asks the kernel for a new session keyring, which any process that may use keyrings gets. Exits with 0 on success, else
 * with the error number.
 */
export function keyringProgram(machine: FilteredMachine): Buffer {
  return rawProgram(machine, Buffer.from(KEYRING_CODE[machine].join(''), 'hex'))
}

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

const KEYRING_CODE = {
  x64: [
    'b8fa000000', // mov eax, 250 (keyctl)
    'bf01000000', // mov edi, 1 (KEYCTL_JOIN_SESSION_KEYRING)
    '31f6', // xor esi, esi
    '0f05', // syscall
    '31ff', // xor edi, edi
    '85c0', // test eax, eax
    '7904', // jns over the next two
    'f7d8', // neg eax
    '89c7', // mov edi, eax
    'b8e7000000', // mov eax, 231 (exit_group)
    '0f05', // syscall
  ],
  arm64: [
    '681b80d2', // mov x8, #219 (keyctl)
    '200080d2', // mov x0, #1 (KEYCTL_JOIN_SESSION_KEYRING)
    '010080d2', // mov x1, #0
    '010000d4', // svc #0
    'e00300cb', // neg x0, x0
    '1f0000f1', // cmp x0, #0
    '00c09f9a', // csel x0, x0, xzr, gt
    'c80b80d2', // mov x8, #94 (exit_group)
    '010000d4', // svc #0
  ],
} as const
