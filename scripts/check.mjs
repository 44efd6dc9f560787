// Every check that reads the tree; writes only dist/. `npm run fix` fixes what can be fixed automatically.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const tool = (name) => join(ROOT, 'node_modules', '.bin', name)

const CHECKS = [
  { name: 'format', command: [tool('oxfmt'), '--check'], fix: 'npm run fix' },
  { name: 'lint', command: [tool('oxlint'), '--type-aware'], fix: 'npm run fix fixes some of it' },
  { name: 'types', command: [tool('tsc')] },
  { name: 'types of web', command: [tool('tsc'), '-p', 'web'] },
  { name: 'structure', command: [tool('vitest'), 'run', 'test/structure'] },
  { name: 'unused code', command: [tool('knip'), '--no-progress'] },
  {
    name: 'documents',
    command: [process.execPath, 'scripts/docs.mjs', '--check'],
    fix: 'npm run docs',
  },
  { name: 'build', command: [process.execPath, 'scripts/build.mjs', '--if-stale'] },
  { name: 'package', command: [tool('publint'), '--strict'], needs: 'build' },
  { name: 'package rehearse', command: [tool('publint'), 'rehearse', '--strict'], needs: 'build' },
]

const failed = []
for (const check of CHECKS) {
  if (failed.includes(check.needs)) {
    console.log(`skipped ${check.name}: ${check.needs} failed`)
    continue
  }
  const started = performance.now()
  const { code, output } = await run(check.command)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  if (code !== 0) {
    failed.push(check.name)
    console.log(output.trimEnd())
  }
  const advice = code !== 0 && check.fix !== undefined ? ` - ${check.fix}` : ''
  console.log(`${code === 0 ? 'ok' : 'failed'} ${check.name} (${seconds} s)${advice}`)
}

console.log(failed.length === 0 ? 'all checks passed' : `failed: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1

function run([command, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks = []
    child.stdout.on('data', (chunk) => chunks.push(chunk))
    child.stderr.on('data', (chunk) => chunks.push(chunk))
    child.on('error', (error) => resolve({ code: 1, output: `${command}: ${error.message}` }))
    child.on('close', (code) =>
      resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() }),
    )
  })
}
