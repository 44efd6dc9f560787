import { main, noDescriptorsLeft } from '../src/main.ts'

const HANGUP = 129

// Node starts its inspector on this signal, where nothing else listens for it: a process that may signal us could then run code.
process.on('SIGUSR1', () => {})

/** As Node reports a promise that never settles: it is replaced at the end. */
const UNSETTLED = 13

process.exitCode = UNSETTLED
void main({
  argv: process.argv.slice(2),
  env: process.env,
  cwd: () => process.cwd(),
})
  .catch((error: unknown) => {
    const message = noDescriptorsLeft(error)
    if (message === undefined) throw error
    process.stderr.write(`${message}\n`)
    return 1
  })
  .then((code) => {
    process.exitCode = code
    // A terminal that is gone cannot be put back as it was, and Node aborts when it tries to at the end.
    if (code === HANGUP && process.stdin.isTTY) process.kill(process.pid, 'SIGHUP')
  })
