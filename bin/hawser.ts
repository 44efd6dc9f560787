import { main } from '../src/main.ts'

const HANGUP = 129

const code = await main({
  argv: process.argv.slice(2),
  env: process.env,
  cwd: () => process.cwd(),
})
process.exitCode = code
// A terminal that is gone cannot be put back as it was, and Node breaks off when it tries to at the end.
if (code === HANGUP && process.stdin.isTTY) process.kill(process.pid, 'SIGHUP')
