// Runs measuring scripts one after another and stores their latest figures in a README.
// A script prints each figure as one line of JSON; other lines are passed on and otherwise ignored.
import { execFileSync, spawn } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { availableParallelism, release, type } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OPEN = '<!-- figures -->'
const CLOSE = '<!-- /figures -->'

/**
 * @typedef {object} Suite
 * @property {string} folder      folder of the README, with the scripts in it or below it
 * @property {string} ending      suffix of the script names
 * @property {string} title       heading of a README that does not exist yet
 * @property {string[]} columns   keys of a figure, in the order of the table; the first one names the figure
 * @property {number} minutes     time limit of one script
 * @property {(figure: object) => string | undefined} complain   what is wrong with a figure, if anything
 * @property {(figures: object[]) => string} sum   all figures of a run in a few words
 *
 * @param {Suite} suite
 * @param {string[]} args   parts of names of scripts to run, or whole file names (all if none), `--write` to store the
 *                          figures of a filtered run; other options are passed on to the scripts
 * @returns {Promise<number>} exit code
 */
export async function runSuite(suite, args) {
  const filters = args.filter((arg) => !arg.startsWith('--'))
  const scripts = await scriptsOf(suite, filters)
  if (scripts.length === 0) {
    console.log(`no ${suite.folder}/*${suite.ending} to run`)
    return filters.length === 0 ? 0 : 1
  }

  const options = args.filter((arg) => arg.startsWith('--') && arg !== '--write')
  const ran = new Set()
  const rows = []
  const complaints = []
  for (const script of scripts) {
    const { figures, end } = await runScript(join(suite.folder, script), options, suite.minutes)
    const name = basename(script, suite.ending)
    ran.add(name)
    rows.push(...figures.map((figure) => ({ script: name, figure })))
    complaints.push(...complaintsAbout(suite, name, figures, end))
  }

  if (filters.length === 0 || args.includes('--write')) await keep(suite, ran, rows)
  for (const complaint of complaints) console.log(`failed ${complaint}`)
  const counted = rows.map(({ figure }) => figure).filter(({ skipped }) => skipped === undefined)
  const counts = `${scripts.length} scripts, ${rows.length} figures, ${complaints.length} complaints`
  console.log(`${counts}; ${suite.sum(counted)}`)
  return complaints.length === 0 ? 0 : 1
}

async function scriptsOf({ folder, ending }, filters) {
  const paths = await readdir(join(ROOT, folder), { recursive: true }).catch(() => [])
  return paths
    .filter((path) => path.endsWith(ending))
    .filter((path) => filters.length === 0 || filters.some((one) => isNamed(basename(path), one)))
    .toSorted((a, b) => basename(a).localeCompare(basename(b)))
}

/** A whole file name means this script alone; a part of a name, every script with it. */
function isNamed(name, part) {
  return part.endsWith('.ts') ? name === part : name.includes(part)
}

/** A figure may have `skipped` with a reason, if this machine lacks what the test needs. */
function complaintsAbout(suite, name, figures, end) {
  const wrong = figures
    .filter(({ skipped }) => skipped === undefined)
    .map((figure) => [figure, suite.complain(figure)])
    .filter(([, complaint]) => complaint !== undefined)
    .map(([figure, complaint]) => `${name}: ${figure[suite.columns[0]]}: ${complaint}`)
  if (end !== undefined) wrong.push(`${name}: ${end}`)
  if (figures.length === 0) wrong.push(`${name}: printed no figure`)
  return wrong
}

/** The script gets its own process group, so that a script that hangs is killed together with its children. */
async function runScript(path, options, minutes) {
  console.log(`--- ${path}`)
  const child = spawn(process.execPath, ['--import', 'tsx', path, '--full', ...options], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const endGroup = () => {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch (error) {
      if (error.code !== 'ESRCH') throw error
    }
  }
  const interrupt = () => {
    endGroup()
    process.exit(130)
  }
  let late = false
  const timer = setTimeout(() => {
    late = true
    endGroup()
  }, minutes * 60_000)
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  const closed = new Promise((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }))
  })

  const figures = []
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(line)
    const figure = figureIn(line)
    if (figure !== undefined) figures.push(figure)
  }
  const { code, signal } = await closed
  clearTimeout(timer)
  process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  if (late) return { figures, end: `took more than ${minutes} minutes` }
  return { figures, end: code === 0 ? undefined : `ended with ${signal ?? `exit code ${code}`}` }
}

function figureIn(line) {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Rows of scripts that did not run stay unchanged; each row has its own date and commit. */
async function keep(suite, ran, rows) {
  const path = join(ROOT, suite.folder, 'README.md')
  const before = await readFile(path, 'utf8').catch(() => `# ${suite.title}\n`)
  const text = before.includes(OPEN) ? before : `${before}\n${OPEN}\n${CLOSE}\n`
  const [head, rest] = text.split(OPEN)
  const [oldTable, tail] = rest.split(CLOSE)

  const existing = new Set(
    (await scriptsOf(suite, [])).map((script) => basename(script, suite.ending)),
  )
  const kept = oldTable
    .split('\n')
    .map((line) => ({ script: /^\| (\S+) \|/.exec(line)?.[1], line }))
    .filter(({ script }) => existing.has(script) && !ran.has(script))
  const fresh = rows.map((row) => ({ script: row.script, line: tableRow(cellsOf(suite, row)) }))
  const columns = ['script', ...suite.columns, 'more', 'date']
  const table = [
    `Last run: ${type()} ${release().split('-')[0]}, ${availableParallelism()} CPUs, Node ${process.version}.`,
    '',
    tableRow(columns),
    tableRow(columns.map(() => '---')),
    ...[...kept, ...fresh]
      .toSorted((a, b) => a.script.localeCompare(b.script))
      .map(({ line }) => line),
  ]
  await writeFile(path, `${head}${OPEN}\n${table.join('\n')}\n${CLOSE}${tail}`)
}

function cellsOf({ columns }, { script, figure }) {
  const more = Object.entries(figure).filter(([key]) => !columns.includes(key))
  return [
    script,
    ...columns.map((column) => figure[column] ?? ''),
    more
      .map(([key, value]) => `${key} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
      .join(', '),
    `${new Date().toISOString().slice(0, 10)} ${commit()}`,
  ]
}

/** What was measured, so that a figure of an older program is known as one; empty without a repository. */
function commit() {
  try {
    const args = ['describe', '--always', '--abbrev=8', '--exclude=*', '--dirty']
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
  } catch {
    return ''
  }
}

function tableRow(cells) {
  return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`
}
