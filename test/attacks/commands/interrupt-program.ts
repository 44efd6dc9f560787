import { CODE_AT, rawProgram } from '../../../src/host/sandbox/bubblewrap/raw-program.ts'

/**
 * An x86-64 program that sets every mode of a file in turn with 32-bit system calls (`int 0x80`), and stops at the
 * first set-id bit that is not refused. It then exits with 0, otherwise with 1.
 */
export function chmodByInterrupt(path: string): Buffer {
  const name = Buffer.from(`${path}\0`)
  const address = Buffer.alloc(4)
  address.writeUInt32LE(CODE_AT + 2)
  const code = Buffer.concat([
    // jmp over the name
    Buffer.from([0xeb, name.length]),
    name,
    Buffer.from('31c9', 'hex'), // xor ecx, ecx: the mode
    // again:
    Buffer.from('b80f000000', 'hex'), // mov eax, 15 (chmod)
    Buffer.from([0xbb]), // mov ebx, the name
    address,
    Buffer.from('cd80', 'hex'), // int 0x80
    Buffer.from('85c0', 'hex'), // test eax, eax
    Buffer.from('7508', 'hex'), // jnz next
    Buffer.from('f7c1000c0000', 'hex'), // test ecx, 06000
    Buffer.from('750b', 'hex'), // jnz found
    // next:
    Buffer.from('ffc1', 'hex'), // inc ecx
    Buffer.from('81f900100000', 'hex'), // cmp ecx, 010000
    Buffer.from('72de', 'hex'), // jb again
    Buffer.from('f9', 'hex'), // stc: nothing found
    // found:
    Buffer.from('19db', 'hex'), // sbb ebx, ebx: -1 with carry
    Buffer.from('f7db', 'hex'), // neg ebx
    Buffer.from('b801000000', 'hex'), // mov eax, 1 (exit)
    Buffer.from('cd80', 'hex'), // int 0x80
  ])
  return rawProgram('x64', code)
}
