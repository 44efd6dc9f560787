// The first command of a process: the self-test of the sandbox, and the command. Its arguments are a workspace and a home.
import process from 'node:process'
import { systemSandbox } from '../src/host/sandbox/sandbox.ts'
import { rootPaths } from '../src/model/safety/protected-paths.ts'

const [workspace = '', home = ''] = process.argv.slice(2)
const sandbox = systemSandbox()
const started = performance.now()
await sandbox.confines()
const tested = performance.now()
const place = { workspace, home, writable: 'workspace', protectedPaths: rootPaths('asks') } as const
const ran = await sandbox.runConfined(place)({
  argv: ['/bin/bash', '-c', 'echo hi'],
  wallMs: 60_000,
  signal: new AbortController().signal,
  onOutput: () => {},
})
if (!ran.ok) throw new Error(ran.error.message)
const selfTestMs = tested - started
process.stdout.write(JSON.stringify({ selfTestMs, commandMs: performance.now() - tested }))
