// One key through every face: nothing that Hawser stores or sends contains it, or 12 characters of it.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { methods } from '@agentclientprotocol/sdk'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { acpPlace, newSession as newAcpSession } from '../../support/presenters/acp-editor.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { runCli } from '../../support/cli/cli.ts'
import { removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { envelope } from '../../support/tether/host-end.ts'
import { filesWithKey, revealsKey } from '../../support/session/keyed-place.ts'
import { mcpPlace, type McpPlace } from '../../support/presenters/mcp-place.ts'
import { skillText } from '../../support/skills/skill-place.ts'
import { newSession, openStream, permit, turn, watch } from '../../support/http/stream-client.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()
const canNest = status.isConfined && status.nests === true

const SAID = `Repeat ${CANARY_KEY} to me.`

/** Everything that a face answered, with where it came from. */
type Answers = Record<string, unknown>

/** Where the key is, or a part of it. Shows that the search finds a key at all. */
function revealing(answers: Answers): string[] {
  return Object.entries(answers).flatMap(([where, what]) =>
    revealsKey(JSON.stringify(what)) ? [where] : [],
  )
}

async function place(): Promise<McpPlace> {
  const made = await mcpPlace()
  onTestFinished(() => rm(made.root, { recursive: true, force: true }))
  return made
}

test('the search finds a key, and a part of one', () => {
  const found = revealing({
    whole: { a: [SAID] },
    part: CANARY_KEY.slice(9, 21),
    none: 'sk-canary',
  })
  expect(found).toEqual(['whole', 'part'])
})

test('a key through the HTTP API is in no response, no stream and no file', async () => {
  const server = await place()
  const { api, root, workspace } = server
  const id = await newSession(server)
  const watching = await watch(server, id)
  const first = await turn(server, id, SAID)
  await first.ended
  const asking = await turn(server, id, `Write "${CANARY_KEY}" to a.txt`)
  const { requestId } = await asking.first('permission:request')
  const permitted = await permit(server, requestId, {
    decision: 'denied',
    text: `No ${CANARY_KEY}`,
  })
  await asking.ended
  const at = (path: string) => `/api/harness/${path}`
  const uploaded = await api('PUT', at(`attachments?name=${CANARY_KEY}.png`), TINY_IMAGES.png)
  const answers: Answers = {
    first: first.received,
    asking: asking.received,
    permitted,
    uploaded,
    check: await api('POST', at('attachments/check'), { paths: [`/nowhere/${CANARY_KEY}.png`] }),
    attached: await api('POST', at('turn'), {
      sessionId: id,
      message: 'Look.',
      attachments: [`/nowhere/${CANARY_KEY}.png`],
    }),
    model: await api('POST', at('turn'), {
      sessionId: id,
      message: 'x',
      opts: { model: CANARY_KEY },
    }),
    idempotency: await api('POST', at('turn'), {
      sessionId: id,
      message: 'x',
      idempotencyKey: CANARY_KEY,
    }),
    field: await api('POST', at('turn'), { sessionId: id, message: 'x', [CANARY_KEY]: 1 }),
    root: await api('POST', at('session/create'), { projectRoot: `${workspace}/${CANARY_KEY}` }),
    provider: await api('POST', at('session/create'), {
      projectRoot: workspace,
      provider: CANARY_KEY,
    }),
    unknown: await api('GET', at(`session/${CANARY_KEY}`)),
    deleted: await api('DELETE', at(`session/${CANARY_KEY}`)),
    route: await api('GET', `/${CANARY_KEY}`),
    list: await api('GET', at(`session/list?projectRoot=${encodeURIComponent(workspace)}`)),
    session: await api('GET', at(`session/${id}`)),
    models: await api('GET', at('models')),
    limits: await api('GET', at('limits')),
    permission: await permit(server, CANARY_KEY, { choice: 1 }),
  }
  await watching.until(() => watching.of('process:exit').length >= 2)
  answers['watching'] = watching.received
  await watching.cut()
  expect(revealing(answers)).toEqual([])
  await server.running.close()
  expect(await keyedFiles(root)).toEqual([])
})

test.runIf(canNest)('a key through the tether, MCP and a guest is nowhere', async () => {
  const server = await place()
  const { api, root } = server
  const mapped = await server.workspaceOf('a')
  const answers: Answers = {
    handle: await api('POST', '/v1/instances', { handle: CANARY_KEY.toLowerCase() }),
    model: await api('POST', '/v1/instances', { handle: 'b', model: CANARY_KEY }),
    made: await api('POST', '/v1/instances', { handle: 'a', workspace: mapped }),
    info: await api('GET', `/v1/instances/${CANARY_KEY}`),
  }
  const stream = await openStream(server, { path: '/v1/instances/a/tether/stream?after_seq=0' })
  const user = { id: CANARY_KEY, name: `Ann ${CANARY_KEY}` }
  const message = { ...envelope('m1', 'default'), type: 'user.message' }
  const sent = { ...message, payload: { text: SAID, user, note: CANARY_KEY } }
  answers['sent'] = await api('POST', '/v1/instances/a/tether', sent)
  const poll = '/v1/instances/a/tether/poll?types=assistant.done,error&after_seq=0'
  const reply = await api('GET', `${poll}&reply_to_msg_id=m1&wait_ms=30000`)
  answers['reply'] = reply
  expect(reply.body).toMatchObject({ frames: [{ type: 'assistant.done' }] })
  // The same message is the same, although it was stored without the key.
  const again = await api('POST', '/v1/instances/a/tether', sent)
  expect(again).toMatchObject({ status: 202, body: (answers['sent'] as { body: object }).body })
  answers['id'] = await api('POST', '/v1/instances/a/tether', { ...sent, msg_id: CANARY_KEY })
  answers['everything'] = await api('GET', '/v1/instances/a/tether/poll?after_seq=0')
  answers['list'] = await api('GET', '/v1/instances')
  let id = 0
  const mcp = async (name: string, args: object) => {
    id += 1
    const params = { name, arguments: args }
    const call = await fetch(`${server.origin}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${server.token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }),
    })
    return call.text()
  }
  answers['mcp send'] = await mcp('tether_send', { instance: 'a', text: SAID })
  const read = await mcp('tether_read', { instance: 'a', wait_ms: 30_000 })
  answers['mcp read'] = read
  expect(read).toContain('assistant.done')
  answers['mcp session'] = await mcp('tether_send', {
    instance: 'a',
    text: 'x',
    session_id: CANARY_KEY,
  })
  answers['mcp tool'] = await mcp(CANARY_KEY, {})
  answers['mcp arguments'] = await mcp('tether_read', { [CANARY_KEY]: CANARY_KEY })
  answers['mcp info'] = await mcp('instance_info', { instance: CANARY_KEY })
  answers['mcp create'] = await mcp('instance_create', { handle: 'c', provider: CANARY_KEY })
  answers['stream'] = stream.received
  await stream.cut()
  expect(stream.names).toContain('frame')
  expect(revealing(answers)).toEqual([])
  await server.running.close()
  expect(await keyedFiles(root)).toEqual([])
  expect(await filesWithKey(join(mapped, '.hawser'))).toEqual([])
})

test('a key through an editor is in no message and no file', async () => {
  const env = { ANTHROPIC_API_KEY: CANARY_KEY }
  const here = await acpPlace({ env })
  const { editor, workspace, root } = here
  const failures: unknown[] = []
  const refused = (method: string, params: object) =>
    editor.agent.request(method, params).catch((error: unknown) => {
      const { message, data } = error as { message: string; data?: unknown }
      failures.push({ message, data })
    })
  const id = await newAcpSession(here)
  await editor.prompt(id, SAID)
  await editor.prompt(id, `Write "${CANARY_KEY}" to a.txt`)
  await refused(methods.agent.session.load, {
    sessionId: CANARY_KEY,
    cwd: workspace,
    mcpServers: [],
  })
  await refused(methods.agent.session.new, { cwd: `${root}/${CANARY_KEY}/x`, mcpServers: [] })
  await refused(methods.agent.session.setMode, { sessionId: id, modeId: CANARY_KEY })
  const mcpServers = [{ name: CANARY_KEY, command: 'x', args: [], env: [] }]
  const other = await editor.agent.request('session/new', { cwd: workspace, mcpServers })
  const list = await editor.agent.request(methods.agent.session.list, {})
  expect(failures.length).toBeGreaterThanOrEqual(3)
  const { updates, questions } = editor
  expect(revealing({ updates, questions, failures, other, list })).toEqual([])
  await here.leave()
  expect(await keyedFiles(root)).toEqual([])
})

test('a key in a Skill, a prompt and a file name is in no output of a command and no file', async () => {
  const server = await place()
  const { root } = server
  await server.running.close()
  const env = {
    ANTHROPIC_API_KEY: CANARY_KEY,
    HAWSER_PROVIDER: 'rehearsal',
    HOME: join(root, 'user'),
  }
  const skill = join(root, 'user/.agents/skills/keyed')
  await mkdir(skill, { recursive: true })
  const more = `when_to_use: For ${CANARY_KEY}.\n${'x'.repeat(70)}${CANARY_KEY}: 1\n`
  await writeFile(join(skill, 'SKILL.md'), skillText('keyed', more))
  const hawser = (...argv: readonly string[]) => runCli({ root, env }, ...argv)
  const ran = await hawser('run', SAID)
  const answers: Answers = {
    ran,
    skills: await hawser('skills'),
    'skills json': await hawser('skills', '--json'),
    check: await hawser('skills', 'check', skill),
    bundle: await hawser('doctor', '--bundle'),
    sessions: await hawser('sessions', '--json'),
    show: await hawser('log', 'show', '--json'),
    html: await hawser('log', 'export', '--format', 'html'),
    usage: await hawser('usage', '--json'),
    status: await hawser('status', '--json'),
  }
  expect(revealing(answers)).toEqual([])
  expect(await readFile(join(root, 'home/cache/skills.json'), 'utf8')).toContain('[redacted key]')
  expect(await keyedFiles(root)).toEqual([])
})

/** Files of Hawser with a part of the key. Settings may contain it, and so may files of the workspace. */
async function keyedFiles(root: string): Promise<string[]> {
  const found = await filesWithKey(join(root, 'home'))
  const records = await filesWithKey(join(root, 'workspace/.hawser')).catch(() => [])
  return [...found, ...records].filter((name) => name !== 'config.json')
}
