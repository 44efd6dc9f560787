/** Ways to leave devices, capabilities or files of another owner, as a Perl program. Prints the names of those that worked. */
export const OTHER_WAYS = `
use strict; umask 0;
my %n = NUMBERS;
my $here = -100;
my @worked;
sub made { open(my $f, '>', $_[0]) or die "$_[0]: $!"; $_[0] }
for my $kind (0020000, 0060000) {
  for my $device (0, 1, 259, 0x103, 2048, 2049) {
    my $path = sprintf('node-%o-%d', $kind, $device);
    push @worked, 'device' if syscall($n{mknodat}, $here, $path, $kind | 0666, $device) == 0;
  }
}
for my $flags (4, 5) {
  my ($from, $to) = (made("white-$flags"), "renamed-$flags");
  push @worked, 'whiteout' if syscall($n{renameat2}, $here, $from, $here, $to, $flags) == 0;
}
for my $id (0, 1, 2, 5, 100, 1001, 65533, 65534, 100000) {
  my $path = made("owned-$id");
  push @worked, 'owner' if $id != $< && syscall($n{fchownat}, $here, $path, $id, -1, 0) == 0;
  push @worked, 'group' if $id != $( + 0 && syscall($n{fchownat}, $here, $path, -1, $id, 0) == 0;
}
my $name = 'security.capability';
for my $caps (pack('L5', 0x02000001, 0xffffffff, 0, 0x1ff, 0), pack('L6', 0x03000001, 0xffffffff, 0, 0x1ff, 0, 0)) {
  my $path = made('capable-' . length $caps);
  push @worked, 'capability' if syscall($n{setxattr}, $path, $name, $caps, length $caps, 0) == 0;
}
my %seen;
print join(' ', grep { !$seen{$_}++ } @worked), "\\n";
`

/**
 * Every kind of keyring with every operation that reads, and every other operation without a key, as a Perl program. Its
 * argument is the kinds; for a session keyring it creates its own. Prints how many calls succeeded, and all errors.
 */
export const KEYRING_WAYS = `
use strict;
my %n = NUMBERS;
my ($answered, %errors) = (0);
my @types = ('user', 'logon', 'keyring', 'big_key', 'asymmetric', 'encrypted');
sub tried { if ($_[0] >= 0) { $answered++ } else { $errors{$! + 0}++ } }
tried(syscall($n{keyctl}, 1, 0));
for my $keyring (@ARGV) {
  $keyring += 0;
  for my $type (@types) {
    my ($name, $text) = ('hawser:attack', $type eq 'keyring' ? '' : 'x');
    tried(syscall($n{add_key}, $type, $name, $text, length $text, $keyring));
    tried(syscall($n{request_key}, $type, $name, 0, $keyring));
  }
  for my $operation (0, 6, 11) {
    my $room = "\\0" x 256;
    tried(syscall($n{keyctl}, $operation, $keyring, $operation == 0 ? 0 : $room, $operation == 0 ? 0 : 256, 0));
  }
}
tried(syscall($n{keyctl}, $_, 0, 0, 0, 0)) for 2 .. 40;
printf("%d %s\\n", $answered, join(',', sort keys %errors));
`
