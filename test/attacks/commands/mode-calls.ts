/**
 * Every mode by every call that sets one, as a Perl program, which can make any system call. It keeps the files that got a
 * set-id bit and prints the result of each call. Its argument is the modes: octal digits, separated by commas.
 */
export const MODE_WAYS = `
use strict; umask 0;
my %n = NUMBERS;
my $here = -100;
my %how = (
  chmod => sub { made($_[0]); syscall($n{chmod}, $_[0], $_[1]) },
  chmod_folder => sub { mkdir $_[0]; syscall($n{fchmodat}, $here, $_[0], $_[1]) },
  chmod_x32 => sub { made($_[0]); syscall($n{chmod_x32}, $_[0], $_[1]) },
  fchmod => sub { my $f = made($_[0]); syscall($n{fchmod}, fileno($f), $_[1]) },
  fchmodat => sub { made($_[0]); syscall($n{fchmodat}, $here, $_[0], $_[1]) },
  fchmodat2 => sub { made($_[0]); syscall($n{fchmodat2}, $here, $_[0], $_[1], 0) },
  creat => sub { closed(syscall($n{creat}, $_[0], $_[1])) },
  open => sub { closed(syscall($n{open}, $_[0], 0101, $_[1])) },
  openat => sub { closed(syscall($n{openat}, $here, $_[0], 0101, $_[1])) },
  openat2 => sub { closed(syscall($n{openat2}, $here, $_[0], pack('QQQ', 0101, $_[1], 0), 24)) },
  tmpfile => sub {
    my $folder = '.';
    my $fd = syscall($n{openat}, $here, $folder, $n{O_TMPFILE} | 1, $_[1]);
    return $fd if $fd < 0;
    my $from = "/proc/self/fd/$fd";
    my $linked = syscall($n{linkat}, $here, $from, $here, $_[0], 0x400);
    closed($fd);
    $linked
  },
  mknod => sub { syscall($n{mknod}, $_[0], 0100000 | $_[1], 0) },
  mknod_pipe => sub { syscall($n{mknodat}, $here, $_[0], 0010000 | $_[1], 0) },
  mknodat => sub { syscall($n{mknodat}, $here, $_[0], 0100000 | $_[1], 0) },
);
sub made { open(my $f, '>', $_[0]) or die "$_[0]: $!"; $f }
sub closed { my $fd = $_[0]; my $e = $!; POSIX::close($fd) if $fd >= 0; $! = $e; $fd }
use POSIX ();
my @modes = map { oct } split /,/, $ARGV[0];
my @results;
for my $way (sort keys %how) {
  (my $call = $way) =~ s/^(tmpfile|chmod_folder|mknod_pipe)$/$1 eq 'tmpfile' ? 'openat' : $1 eq 'chmod_folder' ? 'fchmodat' : 'mknodat'/e;
  next unless defined $n{$call};
  my ($left, $exact, %errors) = (0, 0);
  for my $mode (@modes) {
    my $path = sprintf('%s-%04o', $way, $mode);
    $! = 0;
    my $answer = $how{$way}->($path, $mode);
    my $error = $answer < 0 ? $! + 0 : 0;
    my @facts = lstat $path;
    my $got = @facts ? $facts[2] & 07777 : 0;
    if ($mode & 06000) { $errors{$error}++ } elsif (@facts && $got == $mode) { $exact++ }
    if ($got & 06000) { $left++ } else { unlink $path or rmdir $path }
  }
  push @results, sprintf('{"way":"%s","left":%d,"exact":%d,"errors":[%s]}', $way, $left, $exact, join(',', sort keys %errors));
}
print join("\\n", @results), "\\n";
`

/** The same with common programs, for each bit alone and for all of them. `SET_ID_TAR` contains an archive. */
export const PROGRAM_WAYS = `
umask 0
for mode in 4000 2000 1000 0400 0200 0100 0040 0020 0010 0004 0002 0001 4755 2755 6755 7777; do
  install -m $mode /bin/true install-$mode; cp /bin/true chmod-$mode; chmod $mode chmod-$mode
  mkdir -m $mode mkdir-$mode; mkfifo -m $mode mkfifo-$mode
  cp /bin/true "$TMPDIR/moved-$mode"; chmod $mode "$TMPDIR/moved-$mode"; mv "$TMPDIR/moved-$mode" .
  cp /bin/true perl-$mode; perl -e 'chmod oct $ARGV[0], $ARGV[1]' $mode perl-$mode
done
cp /bin/true letters; chmod u+s,g+s letters
cp -p /usr/bin/su copied; cp -a /usr/bin/su all; ln /usr/bin/su linked
tar -xpf archive.tar
echo done
`

/** The system call numbers of an architecture of Node, in Perl syntax. */
const NUMBERS: Readonly<Record<string, string>> = {
  x64: `
    chmod => 90, chmod_x32 => 0x4000005a, fchmod => 91, fchmodat => 268, fchmodat2 => 452, creat => 85, open => 2,
    openat => 257, openat2 => 437, linkat => 265, mknod => 133, mknodat => 259, O_TMPFILE => 020200000,
    setxattr => 188, getxattr => 191, renameat2 => 316, fchownat => 260, io_uring_setup => 425,
    io_uring_enter => 426, io_uring_register => 427, socket => 41, socket_x32 => 0x40000029, socketpair => 53,
    add_key => 248, request_key => 249, keyctl => 250`,
  arm64: `
    fchmod => 52, fchmodat => 53, fchmodat2 => 452, openat => 56, openat2 => 437, linkat => 37, mknodat => 33,
    O_TMPFILE => 020040000, setxattr => 5, getxattr => 8, renameat2 => 276, fchownat => 54, io_uring_setup => 425,
    io_uring_enter => 426, io_uring_register => 427, socket => 198, socketpair => 199,
    add_key => 217, request_key => 218, keyctl => 219`,
}

/** The program with the numbers of this machine. */
export function perlFor(script: string): string {
  return script.replace('NUMBERS', `(${NUMBERS[process.arch] ?? ''})`)
}

/** All modes; or each of the upper three bits with each of the others alone, none of them, and the usual ones. */
export function modes(every: boolean): readonly number[] {
  if (every) return Array.from({ length: 0o10000 }, (_, mode) => mode)
  const lower = [0, 0o644, 0o755, 0o777, ...Array.from({ length: 9 }, (_, bit) => 1 << bit)]
  return Array.from({ length: 8 }, (_, upper) => lower.map((mode) => (upper << 9) | mode)).flat()
}
