// Runs what takes hours, one script after another, and continues where it was stopped: `npm run nightly -- --help`.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const HELP = `Usage: npm run nightly -- [NAME…] [options]

Runs the fault tests, the benchmarks and the other clients at full size, one script at a time, and stores their figures
in the README of their folder. Prints one line of figures for each. A script that passed is recorded with the commit, so
that the next run continues after it; a script that failed runs again. Exit code 1 if one failed.

  NAME           run only the scripts whose name contains NAME, such as "faults/" or "crash"
  --list         list the scripts and whether they have passed; run nothing
  --again        run scripts that have passed too
  --state PATH   the record of this commit (default: .nightly.json)
  --suites PATH  a JSON list of {"name", "command": [PROGRAM, ARGUMENT…]} to run instead`

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const GROUPS = [
  { group: 'faults', folder: 'test/faults', ending: '.fault.ts', script: 'scripts/faults.mjs' },
  { group: 'bench', folder: 'bench', ending: '.bench.ts', script: 'scripts/bench.mjs' },
  { group: 'clients', folder: 'test/clients', ending: '.client.ts', script: 'scripts/clients.mjs' },
]
/** How much of the output of a failed script is repeated. */
const LINES = 20

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
    state: { type: 'string', default: join(ROOT, '.nightly.json') },
    suites: { type: 'string' },
  },
})

if (values.help) console.log(HELP)
else process.exitCode = await main()

async function main() {
  const commit = currentCommit()
  const passed = values.again ? {} : passedAt(commit)
  const suites = suitesToRun()
  if (values.list) return list(suites, passed)
  if (suites.length === 0) {
    console.log(`no script has a name with ${positionals.join(' or ')}`)
    return 1
  }
  build()
  let failures = 0
  for (const { name, command } of suites) {
    if (passed[name] !== undefined) {
      console.log(`passed before ${name}: ${passed[name]}`)
      continue
    }
    const started = performance.now()
    const { code, lines } = await run(command)
    const seconds = Math.round((performance.now() - started) / 1000)
    const figures = `${lines.at(-1) ?? 'no output'} (${seconds} s)`
    if (code === 0) {
      passed[name] = figures
      keep({ commit, passed })
    } else {
      failures += 1
      for (const line of lines.slice(-LINES)) console.log(`  ${line}`)
    }
    console.log(`${code === 0 ? 'ok' : 'failed'} ${name}: ${figures}`)
  }
  console.log(`${suites.length - failures} passed, ${failures} failed`)
  return failures === 0 ? 0 : 1
}

/** One for each script, so that a stopped run repeats at most one of them. */
function suitesToRun() {
  const all =
    values.suites === undefined
      ? GROUPS.flatMap(scriptsOf)
      : JSON.parse(readFileSync(values.suites, 'utf8'))
  return all.filter(
    ({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)),
  )
}

function scriptsOf({ group, folder, ending, script }) {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => basename(path))
    .toSorted()
    .map((file) => ({
      name: `${group}/${file.slice(0, -ending.length)}`,
      command: [process.execPath, script, file, '--write'],
    }))
}

/** The clients and some benchmarks run the built program. */
function build() {
  if (values.suites !== undefined) return
  const { status } = spawnSync(process.execPath, ['scripts/build.mjs', '--if-stale'], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('the build failed')
}

function list(suites, passed) {
  for (const { name } of suites)
    console.log(`${passed[name] === undefined ? 'open' : 'passed'} ${name}`)
  return 0
}

/** The commit, and with uncommitted changes also their hash; the figures that a run stores are not such a change. */
function currentCommit() {
  const figures = GROUPS.map(({ folder }) => `:(exclude)${folder}/README.md`)
  const changes = git('diff', 'HEAD', '--', '.', ...figures)
  const hash = createHash('sha256').update(changes).digest('hex').slice(0, 12)
  return `${git('rev-parse', 'HEAD').trim()}${changes === '' ? '' : `+${hash}`}`
}

function git(...args) {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 28 })
}

function passedAt(commit) {
  let kept
  try {
    kept = JSON.parse(readFileSync(values.state, 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT') return {}
    throw error
  }
  return kept.commit === commit ? kept.passed : {}
}

/** Renamed into place: a run that is killed here leaves the record of before. */
function keep(state) {
  const fresh = `${values.state}.new`
  writeFileSync(fresh, `${JSON.stringify(state, null, 2)}\n`)
  renameSync(fresh, values.state)
}

function run([program, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
    const interrupt = (signal) => {
      child.kill(signal)
      process.exit(130)
    }
    process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text))
    child.on('error', (error) => (output += `${program}: ${error.message}\n`))
    child.on('close', (code) => {
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
      resolve({ code: code ?? 1, lines: output.trimEnd().split('\n') })
    })
  })
}
