import { execFile, spawn, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { LAYER_0 } from '../../src/prompt/words/layer0.ts'
import { CONTRACT_VERSION } from '../../src/prompt/words/version.ts'
import { sha256 } from '../../src/encoding/hash.ts'
import type { SessionMode } from '../../src/model/modes.ts'
import { bundleScript } from '../support/host/bundle-script.ts'

/** Environments of a process. Omitted fields are as in the first one. */
interface World {
  /** Below the folder of this environment; the process starts there. */
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly uid?: number
  readonly now?: number
  readonly branch?: string
  readonly mode?: SessionMode
  readonly permission?: 'read-only' | 'ask' | 'auto'
  readonly sandbox?: boolean
  /** What the process must find, as proof that the environment is different. */
  readonly found: Readonly<Record<string, unknown>>
}

const NOBODY = 65_534

const WORLDS: Readonly<Record<string, World>> = {
  'an ordinary place': { found: { late: { mode: 'build', permission_mode: 'ask' } } },
  'another current folder': {
    cwd: 'elsewhere',
    found: { actual: { cwd: expect.stringMatching(/elsewhere$/) } },
  },
  'another user': { uid: NOBODY, found: { actual: { uid: NOBODY } } },
  'another home': {
    env: { HOME: '/nowhere/home', USER: 'stoker', LOGNAME: 'stoker', XDG_CONFIG_HOME: '/nowhere' },
    found: { actual: { home: '/nowhere/home' } },
  },
  'another language': {
    env: { LANG: 'de_DE.UTF-8', LC_ALL: 'tr_TR.UTF-8', LANGUAGE: 'tr:de' },
    found: { actual: { locale: 'tr-TR' } },
  },
  'another time zone': {
    env: { TZ: 'Pacific/Kiritimati' },
    found: {
      actual: { timeZone: 'Pacific/Kiritimati' },
      late: { zone: 'Pacific/Kiritimati' },
    },
  },
  'another century': {
    now: Date.UTC(1999, 11, 31, 23, 59),
    env: { TZ: 'UTC' },
    found: { late: { date: '1999-12-31' } },
  },
  'a later date in a zone where it is tomorrow': {
    now: Date.UTC(2038, 0, 19, 23, 0),
    env: { TZ: 'Asia/Kathmandu' },
    found: { late: { date: '2038-01-20' }, actual: { timeZone: expect.stringMatching(/mandu$/) } },
  },
  'a git repository with changes': { branch: 'moored', found: { late: { branch: 'moored' } } },
  'a machine with a sandbox': { sandbox: true, found: {} },
  'a plan': { mode: 'plan', found: { late: { mode: 'plan', permission_mode: 'read-only' } } },
  'permission for everything': { permission: 'auto', found: { late: { permission_mode: 'auto' } } },
  'no permission': {
    permission: 'read-only',
    found: { late: { permission_mode: 'read-only' } },
  },
}

const Report = z.object({
  contract_version: z.string(),
  recorded: z.string(),
  layer0: z.string(),
  segments: z.string(),
  blob: z.string(),
  surface: z.base64().transform((text) => Buffer.from(text, 'base64')),
  body: z.base64().transform((text) => Buffer.from(text, 'base64')),
  cache_key: z.string(),
  late: z.object({
    workspace: z.string(),
    branch: z.string().optional(),
    mode: z.string(),
    permission_mode: z.string(),
    date: z.string(),
    zone: z.string(),
    os: z.string(),
    shell: z.string(),
  }),
  actual: z.object({ cwd: z.string() }).loose(),
})
type Report = z.infer<typeof Report>

const names = Object.keys(WORLDS)
const reports = new Map<string, Report>()
/** Environments that cannot be created here, and why. */
const missing = new Map<string, string>()
let folder = ''

/** Not in the folder of the tests, which other users cannot enter. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hawser-layer0-'))
  await chmod(folder, 0o755)
  const script = await bundleScript(new URL('layer0-child.ts', import.meta.url), folder)
  const waiting = Object.entries(WORLDS)
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [name, world] = next
      const why = await whyNot(world)
      if (why === undefined) reports.set(name, await startIn(script, world))
      else missing.set(name, why)
    }
  }
  await Promise.all([lane(), lane()])
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test.for(names)('[PC-014] [PC-017] the surface has the same bytes in %s', (name, { skip }) => {
  skip(missing.has(name), missing.get(name))
  const { layer0, recorded, contract_version, segments, blob } = reportOf(name)
  const plain = reportOf('an ordinary place')
  expect(reportOf(name)).toMatchObject(WORLDS[name]?.found ?? {})
  expect({ layer0, recorded, contract_version, segments, blob }).toEqual({
    layer0: sha256(LAYER_0),
    recorded: sha256(LAYER_0),
    contract_version: CONTRACT_VERSION,
    segments: plain.segments,
    blob: plain.blob,
  })
})

/** No model's tokens are longer than this on average. */
const BYTES_A_TOKEN = 16

test.for(names)('[PC-006] a request begins with the whole surface in %s', (name, { skip }) => {
  skip(missing.has(name), missing.get(name))
  const { surface } = reportOf('an ordinary place')
  expect(surface.length).toBeGreaterThan(256 * BYTES_A_TOKEN)
  expect(reportOf(name).body.subarray(0, surface.length).equals(surface)).toBe(true)
})

test.for(names)(
  '[PC-023] the current state is placed after the request in %s',
  (name, { skip }) => {
    skip(missing.has(name), missing.get(name))
    const { body, late } = reportOf(name)
    const input = Body.parse(JSON.parse(body.toString('utf8'))).segments.flatMap(
      ({ role, parts = [] }) => parts.map(({ text }) => ({ role, text })),
    )
    const facts = [
      `workspace: "${late.workspace}"`,
      ...(late.branch === undefined ? [] : [`branch: "${late.branch}"`]),
      `mode: ${late.mode}`,
      `permission: ${late.permission_mode}`,
      `date: ${late.date} (${late.zone})`,
      `os: ${late.os}`,
      `shell: ${late.shell}`,
    ]
    expect(input).toEqual([
      { role: 'user', text: 'Good morning.' },
      { role: 'developer', text: expect.stringContaining(`\n${facts.join('\n')}`) },
    ])
  },
)

test('[PC-008] [PC-036] Sessions with the same surface are distinguished by their cache key alone', () => {
  const keys = [...reports.values()].map(({ cache_key }) => cache_key)
  const families = keys.map((key) => /:s_([0-9a-f]{16}):/.exec(key)?.[1])
  const others = keys.map((key) => key.replace(/:s_[0-9a-f]{16}/, '').replace('r_plan', 'r_build'))
  expect(new Set(families).size).toBe(reports.size)
  expect(new Set(others).size).toBe(1)
})

const Body = z.object({
  segments: z.array(
    z.object({ role: z.string(), parts: z.array(z.object({ text: z.string() })).optional() }),
  ),
})

function reportOf(name: string): Report {
  const found = reports.get(name)
  if (found === undefined) throw new Error(`there is no report of ${name}`)
  return found
}

/** A separate process in a separate folder: it inherits nothing but its environment. */
async function startIn(script: string, world: World): Promise<Report> {
  const root = await mkdtemp(join(folder, 'world-'))
  const cwd = join(root, world.cwd ?? '')
  await mkdir(join(root, 'workspace'), { recursive: true })
  await mkdir(cwd, { recursive: true })
  if (world.branch !== undefined) await makeRepository(join(root, 'workspace'), world.branch)
  const { mode = 'build', permission = 'ask', sandbox = false, now, uid } = world
  const own = uid === undefined ? {} : { uid, gid: uid }
  if (uid !== undefined)
    await Promise.all([root, join(root, 'workspace')].map((at) => chown(at, uid, uid)))
  const order = JSON.stringify({ root, mode, permission, sandbox, now })
  const env = { ...process.env, ...world.env }
  return Report.parse(JSON.parse(await outputOf([script, order], { cwd, env, ...own })))
}

async function makeRepository(workspace: string, branch: string): Promise<void> {
  const git = (...args: string[]) => promisify(execFile)('git', ['-C', workspace, ...args])
  await git('init', '--quiet')
  await git('symbolic-ref', 'HEAD', `refs/heads/${branch}`)
  await writeFile(join(workspace, 'AGENTS.md'), 'Tie every knot twice.\n')
  await git('add', 'AGENTS.md')
  await writeFile(join(workspace, 'AGENTS.md'), 'Tie every knot three times.\n')
}

async function whyNot({ uid, branch }: World): Promise<string | undefined> {
  if (branch !== undefined) {
    const git = promisify(execFile)('git', ['--version'])
    return git.then(() => undefined).catch(() => 'there is no git here')
  }
  if (uid === undefined) return undefined
  if (process.getuid?.() !== 0) return 'only root can start a process as another user'
  const native = createRequire(import.meta.url).resolve('fs-native-extensions')
  const program = `require(${JSON.stringify(native)})`
  const can = outputOf(['--eval', program], { cwd: '/', env: process.env, uid, gid: uid })
  return can.then(() => undefined).catch(() => 'nobody else may read the packages that it needs')
}

async function outputOf(args: readonly string[], options: SpawnOptions): Promise<string> {
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const chunks: Buffer[] = []
  const complaint: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => complaint.push(chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(Buffer.concat(complaint).toString())
  return Buffer.concat(chunks).toString()
}
