import { rawProgram } from '../../../src/host/sandbox/bubblewrap/raw-program.ts'

/**
 * Every address family with every type, flag and protocol, by the C library and by raw system calls with other values in
 * the upper halves of the arguments, as a Perl program. Sockets are created and closed: nothing is bound, connected or sent.
 * Prints, for each way, family and protocol of netlink, the errors that the kernel returned; 0 is a socket.
 */
export const SOCKET_WAYS = `
use strict; use POSIX ();
my %n = NUMBERS;
my $above = 0x5a5a5a5a << 32;
my %how = (
  libc => sub { my $s; socket($s, $_[0], $_[1], $_[2]) ? 0 : $! + 0 },
  raw => sub { closed(syscall($n{socket}, $_[0] + 0, $_[1] + 0, $_[2] + 0)) },
  above => sub { closed(syscall($n{socket}, map { $above | ($_ & 0xffffffff) } @_)) },
  x32 => sub { closed(syscall($n{socket_x32}, $_[0] + 0, $_[1] + 0, $_[2] + 0)) },
  libc_pair => sub { my ($a, $b); socketpair($a, $b, $_[0], $_[1], $_[2]) ? 0 : $! + 0 },
  raw_pair => sub {
    my $fds = pack('ii', -1, -1);
    my $done = syscall($n{socketpair}, (map { $above | ($_ & 0xffffffff) } @_), $fds);
    my $error = $! + 0;
    return $error if $done < 0;
    POSIX::close($_) for unpack('ii', $fds);
    0
  },
);
sub closed { my $e = $! + 0; return $e if $_[0] < 0; POSIX::close($_[0]); 0 }
my @families = (0 .. 51, 255, 256, 257, 258, 65535, 65537, 2147483647, -1, -2, -2147483648);
for my $way (sort keys %how) {
  next if $way eq 'x32' && !defined $n{socket_x32};
  for my $family (@families) {
    for my $protocol ($family == 16 ? (0 .. 22) : (0, 1, 6, 17, 132, 255, 262)) {
      my %errors;
      for my $type (0 .. 6, 10) {
        $errors{$how{$way}->($family, $type | $_, $protocol)}++ for 0, 04000, 02000000, 02004000;
      }
      my $errors = join(',', sort { $a <=> $b } keys %errors);
      printf('{"way":"%s","family":%d,"protocol":%d,"errors":[%s]}' . "\\n", $way, $family, $protocol, $errors);
    }
  }
}
`

/** Whether each call of io_uring is available, as a Perl program: with one, a socket needs no call that a filter sees. */
export const RING_WAYS = `
my %n = NUMBERS;
my $p = "\\0" x 120;
my @errors = map { syscall($n{$_}, 1, $p, 0, 0, 0, 0) < 0 ? $! + 0 : 0 } qw(io_uring_setup io_uring_enter io_uring_register);
print join(',', @errors);
`

/** Calls of the 32-bit ABI that create sockets: socket, socketpair, and both through `socketcall`. */
export const INTERRUPT_CALLS = ['socket', 'socketpair', 'socketcall'] as const

/**
 * An x86-64 program that asks for a vsock stream, or for a pair, by a 32-bit system call (`int 0x80`). It exits with 0 if
 * the kernel answers at all, whatever it answers.
 */
export function socketByInterrupt(call: (typeof INTERRUPT_CALLS)[number]): Buffer {
  const number = { socket: 359, socketpair: 360, socketcall: 102 }[call]
  const first = Buffer.alloc(4)
  // For `socketcall` the first argument is the operation, and the others lie in memory, here nowhere.
  first.writeUInt32LE(call === 'socketcall' ? 1 : AF_VSOCK)
  const eax = Buffer.alloc(4)
  eax.writeUInt32LE(number)
  const code = Buffer.concat([
    Buffer.from([0xb8]), // mov eax, the number
    eax,
    Buffer.from([0xbb]), // mov ebx, the first argument
    first,
    Buffer.from('b901000000', 'hex'), // mov ecx, 1 (SOCK_STREAM)
    Buffer.from('31d2', 'hex'), // xor edx, edx
    Buffer.from('31f6', 'hex'), // xor esi, esi
    Buffer.from('cd80', 'hex'), // int 0x80
    Buffer.from('b801000000', 'hex'), // mov eax, 1 (exit)
    Buffer.from('31db', 'hex'), // xor ebx, ebx
    Buffer.from('cd80', 'hex'), // int 0x80
  ])
  return rawProgram('x64', code)
}

const AF_VSOCK = 40
