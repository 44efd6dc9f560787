import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EXCEPTED_CHECKS, EXCEPTED_SCENARIOS } from './conformance-exceptions.ts'
import { install, newerNode, nodeIn, Unavailable } from '../support/npm/install.ts'
import { serveFixture } from './mcp-fixture.ts'
import type { Pin } from '../support/npm/pin.ts'
import { CONFORMANCE } from './pins.ts'
import { run } from '../support/npm/process.ts'

/**
 * Runs the server scenarios of the MCP conformance suite against the serving code of Hawser with the tools that the suite
 * calls. A failure must be listed with its reason in `conformance-exceptions.ts`, and what is listed must fail.
 */
const [current, earlier] = CONFORMANCE
const RUNS = [
  { pin: current, what: 'revision 2026-07-28', args: ['--requirements', '2026-07-28'] },
  { pin: current, what: 'revision 2025-11-25', args: ['--requirements', '2025-11-25'] },
  { pin: earlier, what: 'the suite before 2026-07-28', args: ['--suite', 'active'] },
] as const
const SECONDS = 240

interface Check {
  readonly id: string
  readonly status: string
}

const root = await mkdtemp(join(tmpdir(), 'hawser-client-'))
const fixture = await serveFixture()
try {
  for (const { pin, what, args } of RUNS) await check(pin, `MCP conformance, ${what}`, args)
} finally {
  await fixture.close()
  await rm(root, { recursive: true, force: true })
}

async function check(pin: Pin, loop: string, args: readonly string[]): Promise<void> {
  const { version } = pin
  const started = performance.now()
  try {
    const folder = await mkdtemp(join(root, 'run-'))
    const modules = await install(folder, [pin, ...newerNode()])
    const cli = join(modules, '.bin', 'conformance')
    const out = join(folder, 'results')
    const command = [nodeIn(modules), cli, 'server', '--url', fixture.url, ...args, '-o', out]
    const env = { PATH: process.env['PATH'], HOME: folder }
    const { code, stdout, stderr } = await run(command, { cwd: folder, env, seconds: SECONDS })
    if (code === undefined) throw new Error(`did not end: ${stdout}${stderr}`)
    const checks = await checksIn(out)
    const offences = offencesOf(checks)
    for (const offence of offences) console.log(`${loop}: ${offence}`)
    const passed = checks.filter(({ status }) => status === 'SUCCESS').length
    const completed = offences.length === 0 && passed > 0
    const seconds = Number(((performance.now() - started) / 1000).toFixed(1))
    const excepted = checks.filter(({ status }) => status === 'FAILURE').length
    console.log(
      JSON.stringify({ loop, version, completed, calls: checks.length, passed, excepted, seconds }),
    )
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    console.log(JSON.stringify({ loop, version, skipped: error.message }))
  }
}

interface ScenarioCheck extends Check {
  readonly scenario: string
}

/** The suite writes a folder for each scenario, named by it and the time. */
async function checksIn(out: string): Promise<readonly ScenarioCheck[]> {
  const found: ScenarioCheck[] = []
  for (const name of await readdir(out)) {
    const [, scenario = name] = /^(?:server-)?(.+?)-\d{4}-\d{2}-\d{2}T/.exec(name) ?? []
    const checks = JSON.parse(await readFile(join(out, name, 'checks.json'), 'utf8')) as Check[]
    found.push(...checks.map((one) => ({ ...one, scenario })))
  }
  return found
}

function offencesOf(checks: readonly ScenarioCheck[]): readonly string[] {
  const failed = checks.filter(({ status }) => status === 'FAILURE')
  const unexpected = failed.filter(
    ({ id, scenario }) =>
      !Object.hasOwn(EXCEPTED_CHECKS, id) &&
      !EXCEPTED_SCENARIOS.some(([start]) => scenario.startsWith(start)),
  )
  const stale = Object.keys(EXCEPTED_CHECKS).filter((id) =>
    checks.some((one) => one.id === id && one.status === 'SUCCESS'),
  )
  const needless = EXCEPTED_SCENARIOS.map(([start]) => start).filter((start) => {
    const found = checks.filter(({ scenario }) => scenario.startsWith(start))
    return found.length > 0 && !found.some(({ status }) => status === 'FAILURE')
  })
  return [
    ...unexpected.map(({ scenario, id }) => `${scenario}: ${id} failed`),
    ...stale.map((id) => `${id} is listed as an exception, but passed`),
    ...needless.map((start) => `${start} is listed as an exception, but nothing of it failed`),
  ]
}
