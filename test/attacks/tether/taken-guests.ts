import { DONE_LINE } from './hostile-guests.ts'

/** What a guest that has been taken over does before it answers the message `m1`, and how that ends. */
export interface TakenGuest {
  readonly name: string
  /** For Node in the sandbox; see `hostileProgram`. */
  readonly script: string
  /** `answered`: its answer is used, `stopped`: it runs until it is stopped, else the kind of the reason why it is. */
  readonly ends: 'answered' | 'stopped' | 'log_damaged' | 'not_regular_file'
  /** At least so many processes run before it is stopped. */
  readonly processes?: number
}

const OWN_SESSION = 'ses_01kg8m2q3r4s5t6v7w8x9y0z99'

/** Runs a script of bash, whatever its exit. */
function bash(script: string): string {
  return `require('node:child_process').spawnSync('timeout', ['-s', 'KILL', '60', 'bash', '-c', ${JSON.stringify(script)}], { stdio: 'ignore' });`
}

/** Every way to change a path. */
function spoil(path: string): string {
  return `
    echo evil >>'${path}'; echo evil >'${path}'; truncate -s 0 '${path}'; chmod 777 '${path}'; touch -d @0 '${path}'
    ln -f '${path}' scratch/hard; ln -sfn scratch '${path}'; mv '${path}' scratch/moved; mv scratch/other '${path}'
    rm -rf '${path}'; mknod '${path}' p; setfattr -n user.a -v b '${path}'`
}

/** Against these paths of others, directly and through links and mounts of its own. */
export function reaching(root: string, others: readonly string[]): TakenGuest {
  const links = others.map(
    (path, at) => `ln -sfn '${path}' scratch/link${at}; echo evil >scratch/link${at}`,
  )
  const heads = ['.hawser/heads', '$HAWSER_HOME/heads', '.hawser/instances/inst_2/sessions']
  const script = [
    'echo other >scratch/other',
    ...others.map(spoil),
    ...links,
    // Files that look like heads and records of others, where a guest can write.
    ...heads.map(
      (folder) =>
        `mkdir -p ${folder}; echo '{"seq":999999,"hash":"x","offset":9}' >${folder}/${OWN_SESSION}`,
    ),
    `unshare -Urm bash -c 'mount -o remount,rw /; mount --rbind / scratch; ${others.map((path) => `echo evil >"scratch${path}"; umount -l "${path}"`).join('; ')}'`,
    `for pid in /proc/[0-9]*; do echo evil >$pid/root${root}/person/.bashrc; echo evil >$pid/cwd/../person/.bashrc; done`,
  ].join('\n')
  return {
    name: 'change the files of others',
    script: `${bash(script)} ${DONE_LINE}`,
    ends: 'answered',
  }
}

const LOG = `.hawser/sessions/${OWN_SESSION}.ndjson`
const PAST = `const { readFileSync, writeFileSync, appendFileSync } = require('node:fs'); const log = '${LOG}'; const text = readFileSync(log, 'utf8');`

function forged(
  name: string,
  change: string,
  ends: TakenGuest['ends'] = 'log_damaged',
): TakenGuest {
  return { name: `a Log: ${name}`, script: `${PAST} ${change}; ${DONE_LINE}`, ends }
}

/**
 * Its Log has a head of the server when it starts. What follows the head and is not an Event is like the last write of a killed
 * writer: the answer counts, but the head stays where it is. A sandbox lets no file become as large as the sparse one.
 */
export const FORGED_LOGS: readonly TakenGuest[] = [
  forged('its end is cut', `writeFileSync(log, text.slice(0, text.length / 2))`),
  forged('it is empty', `writeFileSync(log, '')`),
  forged('it is gone', bash(`rm '${LOG}'`)),
  forged(
    'the line of the head is another one',
    `writeFileSync(log, text.replace(/completed/, 'cancelled'))`,
  ),
  forged(
    'lines follow that are no Events',
    `appendFileSync(log, '{"type":"settings_changed"}\\n{"a":1}\\n')`,
    'answered',
  ),
  forged(
    'a line with a mode follows',
    `appendFileSync(log, text.split('\\n')[0].replace('"seq":0', '"seq":99').replace('ask', 'auto') + '\\n\\n')`,
    'answered',
  ),
  forged(
    'a line with repeated keys follows',
    `appendFileSync(log, '{"v":1,"v":1,"seq":2,"seq":3}\\n\\n')`,
    'answered',
  ),
  forged(
    'a line of 100,000 brackets follows',
    `appendFileSync(log, '['.repeat(100000) + '\\n\\n')`,
    'answered',
  ),
  forged('a sparse end of 100 GB follows', bash(`truncate -s 100G '${LOG}'`), 'answered'),
  forged(
    'it is a link',
    bash(`mv '${LOG}' scratch/log; ln -s "$PWD/scratch/log" '${LOG}'`),
    'not_regular_file',
  ),
  forged('it is a pipe', bash(`rm '${LOG}'; mkfifo '${LOG}'`), 'not_regular_file'),
  forged('its folder is gone', bash('rm -rf .hawser/sessions')),
]

export { OWN_SESSION }

const FRAME = JSON.stringify({
  v: 1,
  type: 'assistant.delta',
  ts: '2026-11-17T10:00:00.000Z',
  session: { channel: 'host', id: 'default' },
  msg_id: 'r1',
  turn_id: 'trn_01kg8m2q3r4s5t6v7w8x9y0z12',
  in_reply_to: 'm1',
  payload: { text: '' },
})

/** `count` tiny frames, and as many bytes on the relay and on its output as they accept, at the same time. */
export function flooding(count: number, bytes: number): TakenGuest {
  const script = `
    const { spawn } = require('node:child_process')
    spawn('bash', ['-c', 'head -c ${bytes} /dev/urandom >&5; head -c ${bytes} /dev/zero >&5'], { stdio: ['ignore', 'ignore', 'ignore', 'ignore', 'ignore', 5] })
    spawn('bash', ['-c', 'head -c ${bytes} /dev/zero; echo the end of the output'], { stdio: ['ignore', 'inherit', 'inherit'] })
    const tiny = Buffer.from((${JSON.stringify(FRAME)} + '\\n').repeat(100))
    for (let sent = 0; sent < ${count}; sent += 100) for (let at = 0; at < tiny.length;) {
      try { at += writeSync(4, tiny.subarray(at)) } catch (error) { if (error.code !== 'EAGAIN') break }
    }`
  return { name: 'floods', script, ends: 'stopped' }
}

/** `count` processes of every stubborn kind, and some that fork without end. */
export function stubborn(count: number): TakenGuest {
  const perl = `
    $| = 1; my $i = 0; my $n = shift;
    $SIG{$_} = "IGNORE" for qw(TERM HUP INT QUIT USR1 ALRM PIPE); $SIG{CHLD} = "IGNORE";
    open(my $held, ">>", "scratch/held"); open(my $log, "<", "AGENTS.md");
    for my $kind (map { $_ % 6 } 0 .. $n - 1) {
      next if fork;
      if ($kind == 1 || $kind == 3) { exit if fork; setpgrp; syscall(112) }
      if ($kind == 2) { kill "STOP", $$ }
      if ($kind == 4) { exec "setsid", "-f", "sleep", "1000000" }
      if ($kind == 5) { chdir "scratch"; exec "unshare", "-Upf", "sleep", "1000000" }
      sleep 1000000 while 1;
    }
    for (1 .. 3) { next if fork; while (1) { my $p = fork // next; exit if $p } }
    open(my $up, ">", "scratch/up"); close $up; sleep 1000000 while 1;`
  const start = `
    require('node:child_process').spawn('perl', ['-e', ${JSON.stringify(perl)}, '${count}'], { detached: true, stdio: 'inherit' })
    process.on('SIGTERM', () => {})`
  return { name: 'stubborn processes', script: start, ends: 'stopped', processes: count }
}
