import type { MachineFacts } from '../../../host/machine.ts'
import type { SandboxStatus } from '../../../host/sandbox/sandbox.ts'
import { good, problem, warning, type Check } from './check.ts'

/** The oldest supported Node version. */
const OLDEST_NODE = [20, 19] as const
const PLATFORMS: ReadonlySet<string> = new Set(['linux', 'darwin'])

export function nodeCheck({ node }: MachineFacts): Check {
  const [major = 0, minor = 0] = node.split('.').map(Number)
  const [least, leastMinor] = OLDEST_NODE
  const recent = major > least || (major === least && minor >= leastMinor)
  const text = `Node ${node}`
  if (recent) return good('node', text)
  const oldest = OLDEST_NODE.join('.')
  return problem(
    'node',
    { text: `${text} is too old.` },
    { action: `Install Node ${oldest} or newer.` },
  )
}

export function platformCheck({ platform, arch, release }: MachineFacts): Check {
  const text = `${platform} ${release.split('-')[0]}, ${arch}`
  if (PLATFORMS.has(platform)) return good('platform', text)
  const unknown = { text: `${text}: Hawser is not tested on this platform.` }
  return warning('platform', unknown, { action: 'Use Linux or macOS.' })
}

/** `here` lists what the sandbox cannot prevent because of the location of the workspace. */
export function sandboxCheck(status: SandboxStatus, here: readonly string[] = []): Check {
  if (status.isConfined) {
    const { by, guarantees = { holds: [], does_not_hold: [] } } = status
    return {
      ...good('sandbox', `Commands run in a sandbox: ${by}.`),
      holds: guarantees.holds,
      does_not_hold: [...guarantees.does_not_hold, ...here],
    }
  }
  const text =
    `Commands cannot be sandboxed: ${status.why}. Hawser asks before each one, in every permission mode, and then it can ` +
    'reach everything you can: your files, your keys, the network.'
  return warning('sandbox', { text }, { action: 'On Linux, install bubblewrap (bwrap).' })
}

/** Empty if commands are not sandboxed: they are not limited then, which the sandbox check implies. */
export function limitsCheck(status: SandboxStatus): readonly Check[] {
  if (!status.isConfined || status.limits === undefined) return []
  const { by, processes, memoryBytes, bindsProcesses } = status.limits
  const most = `${processes.toLocaleString('en')} processes`
  const memory = `${(memoryBytes / GIB).toFixed(1)} GiB of memory`
  if (by !== 'rlimits')
    return [good('limits', `A command can use at most ${most} and ${memory} (${by}).`)]
  const each = `${memory} for each of its processes (RLIMIT_DATA)`
  if (bindsProcesses) {
    return [good('limits', `A command can use at most ${most} (RLIMIT_NPROC) and ${each}.`)]
  }
  const text = `A command can use at most ${each}, and any number of processes: RLIMIT_NPROC does not apply to root.`
  const action =
    'Run hawser as another user, or where it can create control groups for pids and memory.'
  return [warning('limits', { text }, { action })]
}

const GIB = 1024 ** 3

/** `what` describes what does not work without the program. */
export function programCheck(name: string, found: string | undefined, what: string): Check {
  if (found !== undefined) return good(name, found, 'installed')
  const text = `${name} not found: ${what}.`
  return warning(name, { text }, { action: `Install ${name}.` })
}

export interface TerminalFacts {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly columns: number
  readonly rows: number
  readonly colour: boolean
  readonly env: Readonly<Record<string, string | undefined>>
}

export function terminalCheck(facts: TerminalFacts): Check {
  const { stdin, stdout, stderr, columns, rows, colour, env } = facts
  if (!stdin || !stdout || !stderr) {
    const parts = Object.entries({ stdin, stdout, stderr })
    const missing = parts.flatMap(([name, there]) => (there ? [] : [name]))
    return good('terminal', `Not a terminal: ${missing.join(', ')}. Hawser cannot ask questions.`)
  }
  const size = `${columns} columns, ${rows} rows, ${colour ? 'with' : 'without'} colours`
  if ((env['TERM'] ?? 'dumb') === 'dumb') {
    const text = `${size}; TERM is "dumb", so hawser chat cannot draw.`
    return warning('terminal', { text }, { action: 'Set TERM to the type of your terminal.' })
  }
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  if (!/utf-?8/i.test(locale)) {
    const text = `${size}; the locale is not UTF-8, so some characters may look wrong.`
    return warning('terminal', { text }, { action: 'Set LANG to a UTF-8 locale.' })
  }
  return good('terminal', size)
}
