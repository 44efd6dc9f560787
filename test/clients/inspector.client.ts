import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CANARY_KEY } from '../support/host/canary.ts'
import type { CallResult } from '../support/presenters/mcp-clients.ts'
import type { ToolCaller } from '../support/presenters/mcp-talk.ts'
import { sectionTen } from '../support/presenters/section-ten.ts'
import { strictServer } from '../support/providers/strict-server.ts'
import { install, newerNode, nodeIn, Unavailable } from '../support/npm/install.ts'
import { INSPECTOR } from './pins.ts'
import { run } from '../support/npm/process.ts'
import { startUp } from './up.ts'

/**
 * Has the command line of the MCP inspector complete the integration tests of the tether's document, over stdio and over
 * HTTP. Each call is a new process, so that nothing but handles and cursors connects them.
 */
const PROGRAM = fileURLToPath(new URL('../../dist/hawser.cjs', import.meta.url))
const SECONDS = 60
/** Linux accepts 128 KiB in one argument. */
const LONGEST_ARGUMENT = 100_000
const TOOLS = 7
const ERAS = ['legacy', 'auto', 'modern'] as const

const root = await mkdtemp(join(tmpdir(), 'hawser-client-'))
const loops = ['the MCP inspector over stdio', 'the MCP inspector over HTTP'] as const
const { version } = INSPECTOR
try {
  const modules = await install(root, [INSPECTOR, ...newerNode()])
  for (const loop of loops) await drive(loop, modules)
} catch (error) {
  if (!(error instanceof Unavailable)) throw error
  for (const loop of loops) console.log(JSON.stringify({ loop, version, skipped: error.message }))
} finally {
  await rm(root, { recursive: true, force: true })
}

async function drive(loop: (typeof loops)[number], modules: string): Promise<void> {
  const started = performance.now()
  const place = await mkdtemp(join(root, 'place-'))
  // Where it is without HAWSER_HOME: hosts pass few variables on to the programs that they start.
  const [home, workspace] = [join(place, '.hawser'), join(place, 'works', 'a')]
  await mkdir(workspace, { recursive: true })
  await mkdir(home, { mode: 0o700 })
  const settings = JSON.stringify({ instances: { roots: [join(place, 'works')] } })
  await writeFile(join(home, 'config.json'), settings, { mode: 0o600 })
  const bodies: Buffer[] = []
  const model = await strictServer({ onRequest: ({ bytes }) => void bodies.push(bytes) })
  if (!model.ok) throw new Error(model.error.message)
  const server = await startUp(place, home, {
    HAWSER_PROVIDER: 'anthropic',
    ANTHROPIC_API_KEY: CANARY_KEY,
    ANTHROPIC_BASE_URL: model.value.origin,
  })
  let failure: Error | undefined
  let calls = 0
  try {
    const token = (await readFile(join(home, 'token'), 'utf8')).trim()
    const headers = { authorization: `Bearer ${token}` }
    const target =
      loop === loops[0]
        ? [process.execPath, PROGRAM, 'mcp']
        : [
            `${server.origin}/mcp`,
            '--transport',
            'http',
            '--header',
            `Authorization: Bearer ${token}`,
          ]
    const inspect = async (...args: readonly string[]): Promise<unknown> => {
      calls += 1
      return inspected(modules, place, [...target, ...args])
    }
    for (const era of ERAS) await listTools(inspect, era)
    await sectionTen(caller(inspect), {
      root: place,
      home,
      workspace,
      api: async (method, path, body) => {
        const sent =
          body === undefined
            ? { headers }
            : {
                headers: { ...headers, 'content-type': 'application/json' },
                body: JSON.stringify(body),
              }
        const answer = await fetch(server.origin + path, { method, ...sent })
        const { status } = answer
        return { status, headers: answer.headers, body: await answer.text() }
      },
      lastRequest: () => bodies.at(-1) ?? Buffer.alloc(0),
      onDamage: async () => {},
    })
  } catch (error) {
    failure = error instanceof Error ? error : new Error('no error was thrown', { cause: error })
  } finally {
    await server.stop()
    await model.value.close()
  }
  if (failure !== undefined) console.log(`${loop}: ${failure.stack}`)
  const seconds = Number(((performance.now() - started) / 1000).toFixed(1))
  const completed = failure === undefined
  const requests = bodies.length
  console.log(JSON.stringify({ loop, version, completed, calls, requests, seconds }))
}

type Inspect = (...args: readonly string[]) => Promise<unknown>

async function listTools(inspect: Inspect, era: (typeof ERAS)[number]): Promise<void> {
  const listed = await inspect('--method', 'tools/list', '--protocol-era', era)
  const { tools } = listed as { readonly tools: readonly unknown[] }
  if (tools.length !== TOOLS) throw new Error(`${tools.length} tools with --protocol-era ${era}`)
}

function caller(inspect: Inspect): ToolCaller {
  return {
    call: async (tool, args) => {
      const given = ['--tool-name', tool, '--tool-args-json', JSON.stringify(args)]
      return (await inspect('--method', 'tools/call', ...given)) as CallResult
    },
  }
}

/** Runs the inspector once, and returns what it printed. A result that is an error is a result. */
async function inspected(
  modules: string,
  place: string,
  args: readonly string[],
): Promise<unknown> {
  const cli = join(modules, '.bin', 'mcp-inspector')
  const scratch = await mkdtemp(join(root, 'call-'))
  const isLong = args.some((arg) => arg.length > LONGEST_ARGUMENT)
  const command = isLong ? await longCommand(scratch, cli, args) : [cli, '--cli', ...args]
  const { code, stdout, stderr } = await run([nodeIn(modules), ...command], {
    cwd: place,
    env: { PATH: process.env['PATH'], HOME: place },
    seconds: SECONDS,
  })
  await rm(scratch, { recursive: true })
  if (code !== 0 && !stdout.includes('isError'))
    throw new Error(`${args.join(' ').slice(0, 500)} ended with ${code}: ${stdout}${stderr}`)
  return JSON.parse(stdout)
}

/** The same program with arguments that no command line can have: a script adds them before it starts. */
async function longCommand(
  scratch: string,
  cli: string,
  args: readonly string[],
): Promise<readonly string[]> {
  const [list, script] = [join(scratch, 'arguments.json'), join(scratch, 'arguments.mjs')]
  await writeFile(list, JSON.stringify(['--cli', ...args]))
  await writeFile(
    script,
    `import { readFileSync } from 'node:fs'\nprocess.argv.push(...JSON.parse(readFileSync(${JSON.stringify(list)}, 'utf8')))\n`,
  )
  return ['--import', script, cli]
}
