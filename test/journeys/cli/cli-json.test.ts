import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, expect, test } from 'vitest'
import { SessionId } from '../../../src/model/ids.ts'
import { COMMANDS } from '../../../src/presenters/cli/command-table.ts'
import { answersAsJson } from '../../documents/schemas.ts'
import { runCli } from '../../support/cli/cli.ts'
import { openFakeTether } from '../../support/tether/fake-tether.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { localServer } from '../../support/http/local-server.ts'
import { BOT_TOKEN } from '../../support/telegram/bot-identity.ts'
import {
  connectedBot,
  pairedBot,
  servedDouble,
  shownCode,
} from '../../support/telegram/connected-bot.ts'

/** A call of a command with much output. `{id}` and `{root}` are replaced by the prepared Session and folder. */
interface Case {
  readonly argv: readonly string[]
  readonly stdin?: string
  /** What it returns replaces `{prepared}`. */
  readonly prepare?: (root: string, id: SessionId) => Promise<unknown>
  readonly code?: number
  /** For a command that runs until it is interrupted. */
  readonly interrupted?: boolean
}

const CASES: Readonly<Record<string, readonly Case[]>> = {
  run: [
    { argv: ['--session', '{id}', '--permission', 'auto', 'List all files'] },
    { argv: ['--session', '{id}', 'Attach notes.md'], prepare: attach },
  ],
  sessions: [{ argv: [] }, { argv: ['--workspace', '{root}/empty'] }],
  'sessions delete': [{ argv: ['{id}', '--yes'] }],
  rewind: [{ argv: ['{id}', '--turn', '1'] }, { argv: ['{id}', '--turn', '1', '--files'] }],
  fork: [{ argv: ['{id}'] }, { argv: ['{id}', '--turn', '1'] }, { argv: ['{id}', '--at', '6'] }],
  grep: [{ argv: ['one'] }, { argv: ['nowhere to be found'], code: 1 }],
  'log show': [{ argv: ['{id}'] }, { argv: ['{id}', '--turn', '1'] }],
  'log verify': [{ argv: ['{id}', '--requests'] }],
  'log salvage': [{ argv: ['{id}'] }],
  'log export': [{ argv: ['{id}', '--output', '{root}/session.md'] }],
  undo: [
    { argv: ['{id}'] },
    { argv: ['{id}'], code: 1, prepare: (root) => writeFile(join(root, 'workspace/a.txt'), 'me') },
  ],
  redo: [{ argv: ['{id}'], prepare: undo }],
  diff: [{ argv: ['{id}'] }, { argv: ['{id}', '1'] }],
  compact: [
    { argv: ['{id}'] },
    { argv: ['{id}', '--dry-run'] },
    { argv: ['{id}'], prepare: readTwice },
    { argv: ['{id}', '--dry-run'], prepare: readTwice },
    { argv: ['{id}', '--undo'], prepare: compacted },
  ],
  pin: [{ argv: ['{id}', 'Keep', 'this.'] }, { argv: ['{id}'] }],
  request: [{ argv: ['{id}', '--prompt', 'And now?'] }],
  'cache explain': [{ argv: ['{id}'] }],
  'cache probe': [{ argv: [] }, { argv: ['--dry-run', '--vary', 'contract'] }],
  resources: [
    { argv: ['{id}'] },
    { argv: ['{id}'], prepare: attach },
    { argv: ['{id}', 'drop', '@txt1'], prepare: attach },
  ],
  gc: [{ argv: [] }, { argv: ['--dry-run', '--workspace', '{root}/empty'] }],
  models: [{ argv: [] }, { argv: ['--provider', 'anthropic'] }],
  rehearse: [
    { argv: [], interrupted: true },
    { argv: ['--cache-rate', '15'], interrupted: true },
  ],
  up: [{ argv: [], interrupted: true }],
  down: [{ argv: [] }],
  status: [{ argv: [], code: 1 }],
  'instance create': [{ argv: ['raft', '--workspace', 'own', '--ceiling', '2'], prepare: boat }],
  'instance list': [{ argv: [], prepare: boat }],
  'instance info': [{ argv: ['boat'], prepare: boat }],
  'instance map': [{ argv: ['boat', 'own'], prepare: boat }],
  'instance start': [{ argv: ['boat'], prepare: boat }],
  'instance pause': [{ argv: ['boat'], prepare: boat }],
  'instance resume': [{ argv: ['boat'], prepare: boat }],
  'instance stop': [{ argv: ['boat'], prepare: boat }],
  'instance enable': [{ argv: ['boat'], prepare: boat }],
  'instance disable': [{ argv: ['boat'], prepare: boat }],
  'instance delete': [{ argv: ['boat', '--yes'], prepare: boat }],
  'instance send': [{ argv: ['boat', 'Hello'], prepare: boat }],
  'instance read': [{ argv: ['boat', '--after', '0'], prepare: boat }],
  'telegram connect': [{ argv: [], stdin: BOT_TOKEN, prepare: servedDouble }],
  'telegram status': [
    { argv: [] },
    { argv: [], prepare: connectedBot },
    { argv: [], prepare: (root) => pairedBot(root, 42) },
  ],
  'telegram pair': [
    { argv: ['{prepared}'], prepare: (root) => shownCode(root, 42) },
    { argv: ['{prepared}', '--instance', 'painter'], prepare: (root) => shownCode(root, 42) },
  ],
  'telegram unpair': [{ argv: ['42'], prepare: (root) => pairedBot(root, 42) }],
  'telegram disconnect': [{ argv: ['--yes'], prepare: connectedBot }],
  usage: [{ argv: [] }, { argv: ['--workspace', '{root}/empty'] }],
  doctor: [
    { argv: [] },
    { argv: ['--bundle'] },
    { argv: ['--workspace', '{root}/nowhere'], code: 1 },
    { argv: [], code: 1, prepare: (root) => writeFile(join(root, 'home/config.json'), '[]') },
  ],
  'config get': [
    { argv: [] },
    { argv: ['permission'] },
    {
      argv: [],
      prepare: (root) => writeWorkspaceSettings(root, { permission: 'auto', limits: {} }),
    },
  ],
  'config set': [
    { argv: ['permission', 'auto'] },
    { argv: ['limits.provider_calls', '7', '--here'] },
    { argv: ['display.bell'] },
  ],
  permissions: [{ argv: [] }, { argv: [], prepare: allowTests }],
  'permissions allow': [
    { argv: ['--prefix', 'npm test'] },
    { argv: ['--command', 'make', '--in', 'src'] },
  ],
  'permissions deny': [{ argv: ['--file', 'a.txt'] }, { argv: ['--folder', 'vendor'] }],
  'permissions remove': [{ argv: ['1'], prepare: allowTests }],
  trust: [
    { argv: ['--yes'], prepare: (root) => writeWorkspaceSettings(root, { permission: 'auto' }) },
    { argv: [] },
    { argv: ['{id}'] },
    { argv: ['{id}', '--yes'], prepare: (root, id) => rm(join(root, 'home/heads', id)) },
    { argv: ['--instructions'] },
    {
      argv: ['--instructions', '--yes'],
      prepare: (root) => writeFile(join(root, 'workspace', 'AGENTS.md'), 'Use tabs.\n'),
    },
  ],
  skills: [{ argv: [] }, { argv: [], prepare: (root) => writeSkill(root) }],
  'skills trust': [{ argv: ['review', '--yes'], prepare: (root) => writeSkill(root) }],
  'skills untrust': [{ argv: ['review'] }],
  'skills check': [
    { argv: ['{root}/workspace/.agents/skills/review'], prepare: (root) => writeSkill(root) },
    {
      argv: ['{root}/workspace/.agents/skills/review'],
      code: 1,
      prepare: (root) => writeSkill(root, 'context_sources: [{id: a, command: ls}]\n'),
    },
  ],
  completions: [{ argv: ['bash'] }],
}

/** A server with an Instance, which has a message and no agent. */
async function boat(root: string): Promise<void> {
  await localServer({ root, openTether: openFakeTether })
  await runCli({ root }, 'instance', 'create', 'boat')
  await runCli({ root }, 'instance', 'send', 'boat', 'Hello')
}

/** Two Turns with long outputs. */
async function readTwice(root: string, id: string): Promise<void> {
  await writeFile(join(root, 'workspace/long.txt'), 'The tide turns at noon.\n'.repeat(500))
  for (let turn = 0; turn < 2; turn++)
    await runCli({ root }, 'run', '--session', id, 'Read long.txt')
}

async function compacted(root: string, id: string): Promise<void> {
  await readTwice(root, id)
  expect((await runCli({ root }, 'compact', id)).code).toBe(0)
}

async function undo(root: string, id: string): Promise<void> {
  expect((await runCli({ root }, 'undo', id)).code).toBe(0)
}

/** A Skill of the repository. */
async function writeSkill(root: string, more = ''): Promise<void> {
  const folder = join(root, 'workspace/.agents/skills/review')
  await mkdir(folder, { recursive: true })
  const text = `---\nname: review\ndescription: Reviews.\nallowed-tools: read\n${more}---\nDo it.\n`
  await writeFile(join(folder, 'SKILL.md'), text)
}

async function allowTests(root: string): Promise<void> {
  await runCli({ root }, 'permissions', 'allow', '--prefix', 'npm test')
}

async function attach(root: string, id: string): Promise<void> {
  await writeFile(join(root, 'workspace/notes.md'), 'rope\n')
  await runCli({ root }, 'run', '--session', id, '--attach', 'notes.md')
}

const WITH_JSON = COMMANDS.filter(answersAsJson)

let prepared = ''
let session: SessionId
beforeAll(async () => {
  prepared = await freshFolder()
  await mkdir(join(prepared, 'workspace'))
  await mkdir(join(prepared, 'empty'))
  const ask = ['run', '--permission', 'auto', 'Write "one" to a.txt', '--json']
  const { stdout } = await runCli({ root: prepared }, ...ask)
  const id = /"turn_result".*"session_id":"(\w+)"/.exec(stdout)?.[1]
  session = SessionId.parse(id)
})

test('every command with JSON output has a case here', () => {
  expect(Object.keys(CASES).toSorted()).toEqual(WITH_JSON.map(({ name }) => name).toSorted())
})

const TRIALS = Object.entries(CASES).flatMap(([name, cases]) =>
  cases.map((one) => [`${name} ${one.argv.join(' ')}`, { name, ...one }] as const),
)

test.each(TRIALS)('the output of hawser %s --json matches its schema', async (_, trial) => {
  const { name, argv, prepare, stdin, code = 0, interrupted = false } = trial
  const root = await freshFolder()
  await cp(prepared, root, { recursive: true })
  const made = String(await prepare?.(root, session))
  const filled = argv.map((one) =>
    one.replace('{id}', session).replace('{root}', root).replace('{prepared}', made),
  )
  const ran = await runCli(
    { root, interrupted, ...(stdin === undefined ? {} : { stdin }) },
    ...name.split(' '),
    ...filled,
    '--json',
  )
  expect({ code: ran.code, lines: ran.stdout.endsWith('\n') }).toEqual({ code, lines: true })
  const file = name.replaceAll(' ', '-')
  const lines = ran.stdout.trimEnd().split('\n')
  for (const line of lines) expect(await complaints(file, JSON.parse(line))).toEqual([])
})

test.each(WITH_JSON.map((command) => [command.name, command] as const))(
  'the errors of hawser %s --json match the error schema',
  async (name) => {
    const { code, stdout, stderr } = await runCli(
      { root: prepared },
      ...name.split(' '),
      '--no-such-option',
      '--json',
    )
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
    expect(await complaints('error', JSON.parse(stdout))).toEqual([])
  },
)

test('an output that does not match its schema is detected', async () => {
  const pins = { ok: true, session_id: session, pinned: [], bytes: 0, limit: 8_192 }
  expect(await complaints('pin', pins)).toEqual([])
  expect(await complaints('pin', { ...pins, pinned: undefined })).not.toEqual([])
  expect(await complaints('pin', { ...pins, session_id: 'x' })).not.toEqual([])
  expect(await complaints('pin', { ...pins, undocumented: 1 })).not.toEqual([])
})

async function complaints(name: string, answer: unknown): Promise<unknown[]> {
  const path = new URL(`../../../docs/schemas/${name}.json`, import.meta.url)
  const schema: unknown = JSON.parse(await readFile(path, 'utf8'))
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  const fits = ajv.compile(closed(schema) as object)
  return fits(answer) ? [] : [...(fits.errors ?? [])]
}

/** Clients must accept unknown fields; here, a field that is not in the schema is undocumented and fails. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, one]) => [key, closed(one)]))
  return 'properties' in schema && !('additionalProperties' in schema)
    ? { ...inner, additionalProperties: false }
    : inner
}

async function writeWorkspaceSettings(root: string, settings: object): Promise<void> {
  await writeFile(join(root, 'workspace/.hawser/config.json'), JSON.stringify(settings))
}
