// What the Log records about a Session, every face reports to its person, once: notices that no Turn caused.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { openWorkspace } from '../../../src/index.ts'
import { SessionId } from '../../../src/model/ids.ts'
import { acpProgram, newSession as newAcpSession } from '../../support/presenters/acp-editor.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { appendForged } from '../../support/log/forged-lines.ts'
import { serverProgram } from '../../support/http/local-server.ts'
import { startProgram } from '../../support/cli/program.ts'
import { openPty } from '../../support/cli/pty.ts'
import { newSession, turn, watch } from '../../support/http/stream-client.ts'
import { value } from '../../support/log/story.ts'
import { flat, IDLE, leave, times } from '../../support/presenters/open-chat.ts'

let chatProgram = ''
beforeAll(async () => {
  const script = new URL('../../../bin/hawser.ts', import.meta.url)
  chatProgram = await bundleScript(script, await freshFolder())
})

/** Where a face works: in a Session that exists, or in a new one. */
interface Scene {
  readonly root: string
  readonly session?: SessionId
  readonly env: Readonly<Record<string, string>>
}

/** A workspace that is the home directory of the person: commands reach more than in a project. */
async function wideWorkspace(): Promise<Scene> {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  return { root, env: { ...REHEARSAL, HOME: join(root, 'workspace') } }
}

/** A Session with a wider mode after its head, which nothing vouches for. */
async function notVouched(): Promise<Scene> {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  const env = { ...REHEARSAL, HOME: root }
  const run = await startProgram({ root, env }, ['run', '--json', 'Say hello.'])
  expect((await run.ended).code).toBe(0)
  const session = SessionId.parse(/ses_\w+/.exec(run.stdout())?.[0])
  await appendForged(root, session, [
    { type: 'session_settings', data: { permission_mode: 'auto' } },
  ])
  return { root, env, session }
}

const REHEARSAL = { HAWSER_PROVIDER: 'rehearsal' }
const NOTICES = [
  ['wide_workspace', wideWorkspace, 'commands can read and write everything there'],
  ['not_vouched', notVouched, 'Not in force: permission mode auto'],
] as const

/** How often a face shows a text when a person says something. */
type Face = (scene: Scene, words: string) => Promise<number>

const continuing = ({ session }: Scene) => (session === undefined ? [] : ['--resume', session])

const run: Face = async (scene, words) => {
  const program = await startProgram(scene, ['run', ...continuing(scene), 'Say hello.'])
  expect((await program.ended).code).toBe(0)
  return times(program.stderr(), words)
}

const runJson: Face = async (scene, words) => {
  const program = await startProgram(scene, ['run', '--json', ...continuing(scene), 'Say hello.'])
  expect((await program.ended).code).toBe(0)
  const lines = program.stdout().trimEnd().split('\n')
  return lines.filter((line) => {
    const { type } = JSON.parse(line) as { readonly type: string }
    return type === 'notice' && line.includes(words)
  }).length
}

const chat: Face = async (scene, words) => {
  const { root, env } = scene
  const cwd = join(root, 'workspace')
  const all = { ...env, HAWSER_HOME: join(root, 'home') }
  const args = [chatProgram, 'chat', ...continuing(scene)]
  const pty = openPty(process.execPath, args, { columns: 100, rows: 30, cwd, env: all })
  await pty.until(IDLE)
  pty.write('Say hello.\r')
  const turns = scene.session === undefined ? 1 : 2
  const ended = () => times(flat(pty), 'tokens in (') === turns
  await pty.until((rows) => ended() && IDLE.test(rows.join('\n')))
  const shown = times(flat(pty), words)
  const say = (text: string) => pty.write(`${text}\r`)
  expect(await leave({ ...pty, root, workspace: cwd, say, turns: async () => {} })).toBe(0)
  return shown
}

const http: Face = async ({ root, env, session }, words) => {
  const server = await serverProgram(root, env)
  const id = session ?? (await newSession(server))
  const watching = await watch(server, id)
  const stream = await turn(server, id, 'Say hello.')
  await stream.ended
  const turns = session === undefined ? 1 : 2
  await watching.until(() => watching.of('session:complete').length === turns)
  const notices = watching.of('log:event').filter(({ type }) => type === 'notice')
  return notices.filter((one) => JSON.stringify(one).includes(words)).length
}

const library: Face = async ({ root, env, session: known }, words) => {
  const before = process.env['HOME']
  process.env['HOME'] = env['HOME']
  onTestFinished(() => {
    if (before === undefined) delete process.env['HOME']
    else process.env['HOME'] = before
  })
  const path = join(root, 'workspace')
  const workspace = value(await openWorkspace(path, { home: join(root, 'home'), env }))
  onTestFinished(() => workspace.close())
  const session = value(await (known === undefined ? workspace.create() : workspace.resume(known)))
  const { done, turn: mine } = value(await session.admit('Say hello.'))
  value(await done)
  let shown = 0
  for await (const update of session.stream({ after_seq: -1 })) {
    if (update.kind !== 'event') continue
    if (update.event?.type === 'notice') shown += times(update.event.data.text, words)
    if (update.raw.type === 'turn_ended' && update.raw.turn_id === mine) break
  }
  await session.close()
  return shown
}

const acp: Face = async ({ root, env, session }, words) => {
  const place = await acpProgram({ root, env, capabilities: { session: { notices: {} } } })
  const params = { cwd: place.workspace, mcpServers: [] }
  if (session !== undefined)
    await place.editor.agent.request('session/resume', { ...params, sessionId: session })
  await place.editor.prompt(session ?? (await newAcpSession(place)), 'Say hello.')
  return place.editor.updates.filter((one) => JSON.stringify(one).includes(words)).length
}

const FACES = [
  ['[AR-001] run', run],
  ['[AR-002] run --json', runJson],
  ['[AR-003] chat', chat],
  ['[AR-004] HTTP', http],
  ['[AR-005] the library', library],
  ['[AR-006] ACP', acp],
] as const

for (const [name, face] of FACES)
  test.each(NOTICES)(`${name}: the notice %s is shown, once`, async (_, scene, words) => {
    expect(await face(await scene(), words)).toBe(1)
  })
