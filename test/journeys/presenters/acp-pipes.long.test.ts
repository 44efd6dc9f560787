import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { methods } from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { acpProgram, newSession } from '../../support/presenters/acp-editor.ts'
import { errorOf } from '../../support/presenters/acp-errors.ts'
import { acpPipes, HELLO, messagesIn } from '../../support/presenters/acp-pipes.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { startProgram, type Started } from '../../support/cli/program.ts'
import { picture } from '../../support/resources/sample-files.ts'

test('lines that are not messages are answered with errors, and the connection continues', async () => {
  const { program, send, workspace } = await acpPipes()
  const asked = (method: string, params: unknown, id: number) =>
    send({ jsonrpc: '2.0', id, method, params })
  asked('session/new', { cwd: workspace, mcpServers: [] }, 2)
  send(HELLO)
  send('hello')
  send(Buffer.from([0x22, 0xff, 0x22]))
  send('[]')
  send('{"jsonrpc":"2.0"}')
  send(`{"jsonrpc":"2.0","id":3,"method":"${'x'.repeat(33 * 1024 * 1024)}"}`)
  asked('session/teleport', {}, 4)
  asked('session/new', { cwd: 'relative', mcpServers: [] }, 5)
  asked('session/new', { cwd: join(workspace, 'gone'), mcpServers: [] }, 6)
  asked('session/new', {}, 7)
  asked('session/prompt', { sessionId: 'ses_01kg8m2q3r4s5t6v7w8x9y0z12', prompt: [] }, 8)
  asked('session/load', { sessionId: '../etc', cwd: workspace, mcpServers: [] }, 9)
  asked('authenticate', { methodId: 'key' }, 10)
  asked('logout', {}, 13)
  asked('session/fork', { sessionId: 'ses_01kg8m2q3r4s5t6v7w8x9y0z12', cwd: workspace }, 14)
  asked('session/list', { cursor: 'bm90IG91cnM' }, 11)
  send({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 7 } })
  asked('initialize', { protocolVersion: 9 }, 12)
  await program.waitFor('"id":12')
  program.child.stdin?.end()
  expect(await program.ended).toMatchObject({ code: 0 })
  const all = messagesIn(program)
  const errors = all.flatMap(({ id, error }) =>
    error === undefined ? [] : [[id, error.code, error.data.kind]],
  )
  expect(errors.filter(([id]) => id === null)).toEqual([
    [null, -32_700, 'invalid_args'],
    [null, -32_700, 'invalid_args'],
    [null, -32_600, 'invalid_args'],
    [null, -32_600, 'invalid_args'],
    [null, -32_602, 'too_large'],
  ])
  const own = errors.filter(([id]) => id !== null).toSorted(([a], [b]) => Number(a) - Number(b))
  expect(own).toEqual([
    [2, -32_600, 'invalid_args'],
    [4, -32_601, 'invalid_args'],
    [5, -32_602, 'invalid_args'],
    [6, -32_002, 'not_found'],
    [7, -32_602, 'invalid_args'],
    [8, -32_002, 'not_found'],
    [9, -32_002, 'not_found'],
    [10, -32_602, 'invalid_args'],
    [11, -32_602, 'cursor_expired'],
    [13, -32_602, 'invalid_args'],
    [14, -32_002, 'not_found'],
  ])
  expect(all.find(({ id }) => id === 12)).toMatchObject({ result: { protocolVersion: 1 } })
})

test('images in the forms of T3 Code are attached, and other blocks are refused', async () => {
  const { program, send, workspace } = await acpPipes()
  send(HELLO)
  send({ jsonrpc: '2.0', id: 2, method: 'session/new', params: { cwd: workspace, mcpServers: [] } })
  await program.waitFor('"sessionId"')
  const [, sessionId = ''] = /"sessionId":"(ses_\w+)"/.exec(program.stdout()) ?? []
  const picturesOf = (n: number) => {
    const bytes = picture(n)
    const url = `data:image/png;base64,${bytes.toString('base64')}`
    return { url, facts: { name: `quay${n}.png`, mimeType: 'image/png', sizeBytes: bytes.length } }
  }
  const [one, two, three, four] = [1, 2, 3, 4].map(picturesOf)
  const prompts: readonly object[][] = [
    [
      { type: 'image', dataUrl: one?.url, ...one?.facts },
      { type: 'image', data_url: two?.url, ...two?.facts },
      { type: 'image', image_url: three?.url, ...three?.facts },
      { type: 'image', image_url: { url: four?.url }, ...four?.facts },
    ],
    [{ type: 'image', dataUrl: one?.url, ...one?.facts, mimeType: 'image/webp' }],
    [{ type: 'image', dataUrl: one?.url?.replace('/png', '/webp'), name: 'quay.webp' }],
    [{ type: 'image', image_url: 'https://example.com/quay.png', mimeType: 'image/png' }],
    [{ type: 'hologram', data: '' }],
    [{ type: 'text' }],
  ]
  for (const [at, blocks] of prompts.entries()) {
    const params = { sessionId, prompt: [{ type: 'text', text: 'What do you see?' }, ...blocks] }
    send({ jsonrpc: '2.0', id: 10 + at, method: 'session/prompt', params })
    await program.waitFor(`"id":${10 + at},`)
  }
  program.child.stdin?.end()
  expect(await program.ended).toMatchObject({ code: 0 })
  const answers = messagesIn(program).filter(({ id }) => typeof id === 'number' && id >= 10)
  expect(answers.map(({ result, error }) => result?.stopReason ?? error?.data.kind)).toEqual([
    'end_turn',
    'unsupported_type',
    'type_mismatch',
    'invalid_args',
    'invalid_args',
    'invalid_args',
  ])
  const log = await readFile(join(workspace, '.hawser', 'sessions', `${sessionId}.ndjson`), 'utf8')
  for (const name of ['quay1.png', 'quay2.png', 'quay3.png', 'quay4.png'])
    expect(log).toContain(`"name":"${name}"`)
  expect(log.split('"user_message"').length).toBe(2)
  expect(log).not.toContain('base64')
})

test('a prompt while one runs is refused, and the running one continues', async () => {
  const place = await acpProgram({ permit: () => new Promise(() => {}) })
  const { editor } = place
  const id = await newSession(place)
  const first = editor.prompt(id, 'Write "a" to a.txt')
  await editor.until(() => editor.questions.length === 1)
  expect(await errorOf(editor.prompt(id, 'Hello'))).toMatchObject({
    data: { kind: 'turn_in_progress' },
  })
  await editor.agent.notify(methods.agent.session.cancel, { sessionId: id })
  expect(await first).toMatchObject({ stopReason: 'cancelled' })
})

test('after kill -9 in a Turn, the loaded Session says that it crashed, and continues', async () => {
  const first = await acpProgram({ permit: () => new Promise(() => {}) })
  const id = await newSession(first)
  const lost = first.editor.prompt(id, 'Write "a" to a.txt')
  lost.catch(() => {})
  await first.editor.until(() => first.editor.questions.length === 1)
  first.program.child.kill('SIGKILL')
  await first.program.ended
  const second = await acpProgram({ root: first.root })
  const { editor, workspace } = second
  const params = { sessionId: id, cwd: workspace, mcpServers: [] }
  await editor.agent.request(methods.agent.session.load, params)
  expect(editor.text).toContain('cut off by a crash')
  const crashed = editor.of('agent_message_chunk').at(-1)
  expect(crashed?._meta).toEqual({ hawser: { crash_recovered: true } })
  expect(editor.of('tool_call_update').at(-1)).toMatchObject({ status: 'failed' })
  expect(await editor.prompt(id, 'Hello')).toMatchObject({ stopReason: 'end_turn' })
})

test('when the editor closes its end, the Turn is interrupted, its prompt answered, and the program ends', async () => {
  const place = await acpProgram({ permit: () => new Promise(() => {}) })
  const { editor, program, workspace } = place
  const id = await newSession(place)
  const prompt = editor.prompt(id, 'Write "a" to a.txt')
  await editor.until(() => editor.questions.length === 1)
  program.child.stdin?.end()
  expect(await prompt).toMatchObject({ stopReason: 'cancelled' })
  expect(await program.ended).toEqual({ code: 0, signal: null })
  const log = await readFile(join(workspace, '.hawser', 'sessions', `${id}.ndjson`), 'utf8')
  expect(log.trimEnd().split('\n').at(-1)).toContain('"turn_ended"')
})

const WORDS = 'moored '.repeat(140_000)

/** A Session with ten messages of about a megabyte each, and how to load it. */
async function longSession() {
  const place = await acpPipes()
  const { program, send, workspace } = place
  send(HELLO)
  send({ jsonrpc: '2.0', id: 2, method: 'session/new', params: { cwd: workspace, mcpServers: [] } })
  await program.waitFor('"sessionId"')
  const [, sessionId = ''] = /"sessionId":"(ses_\w+)"/.exec(program.stdout()) ?? []
  for (let at = 0; at < 10; at += 1) {
    const prompt = [{ type: 'text', text: `${WORDS} ${at}` }]
    send({ jsonrpc: '2.0', id: 10 + at, method: 'session/prompt', params: { sessionId, prompt } })
    await program.waitFor(`"id":${10 + at},"result"`)
  }
  const params = { sessionId, cwd: workspace, mcpServers: [] }
  return { ...place, load: { jsonrpc: '2.0', id: 30, method: 'session/load', params } }
}

/** The messages of a person that arrived whole. */
function loaded({ stdout }: Started): number {
  const lines = stdout().split('\n')
  return lines.filter((line) => line.includes('user_message_chunk') && line.includes(WORDS)).length
}

test('10 MB arrive completely at a reader that stops for a while, and before the end of the program', async () => {
  const { program, send, load } = await longSession()
  program.child.stdout?.pause()
  send(load)
  // The program has begun, and cannot write more than the pipe takes.
  await expect.poll(() => program.child.stdout?.readableLength).toBeGreaterThan(0)
  program.child.stdout?.resume()
  await program.waitFor('"id":30')
  program.child.stdin?.end()
  expect(await program.ended).toEqual({ code: 0, signal: null })
  expect(loaded(program)).toBe(10)
  expect(messagesIn(program).length).toBeGreaterThan(20)
})

test('an editor that leaves in the middle of 10 MB gets whole lines only, and the program ends', async () => {
  const { program, send, load } = await longSession()
  send(load)
  await program.waitFor('user_message_chunk')
  program.child.stdin?.end()
  expect(await program.ended).toEqual({ code: 0, signal: null })
  expect(program.stdout().endsWith('\n')).toBe(true)
  expect(messagesIn(program).length).toBeGreaterThan(20)
})

test('an editor that is killed while it does not read leaves no process', async () => {
  const { program, send, load } = await longSession()
  program.child.stdout?.pause()
  send(load)
  program.child.stdout?.destroy()
  program.child.stdin?.destroy()
  expect((await program.ended).signal).toBeNull()
})

test('a program without its parent ends, even if its input stays open', async () => {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(workspace)
  await writeFile(join(workspace, 'hello'), `${JSON.stringify(HELLO)}\n`)
  // The parent is the shell after the pipe, which ends when the test says so; the one before it holds the input open.
  const before = '(cat hello; echo $BASHPID >holder; exec sleep 300)'
  const after = '({ "$@" <&3 & } 3<&0; echo $! >served; until [ -e go ]; do sleep 0.1; done)'
  await writeFile(join(workspace, 'start.sh'), `${before} | ${after}\n`)
  const program = await startProgram({ root, under: ['bash', 'start.sh'] }, ['acp'])
  const pidIn = async (name: string) => Number(await readFile(join(workspace, name), 'utf8'))
  await program.waitFor('"id":1')
  const pid = await pidIn('served')
  expect(isRunning(pid)).toBe(true)
  await writeFile(join(workspace, 'go'), '')
  await expect.poll(() => isRunning(pid), { timeout: 60_000, interval: 100 }).toBe(false)
  const holder = await pidIn('holder')
  expect(isRunning(holder)).toBe(true)
  process.kill(holder)
})

test('what a library prints to standard output goes to standard error', async () => {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  const stray = join(root, 'stray.mjs')
  await writeFile(stray, "setInterval(() => console.log('a stray line'), 20).unref()\n")
  const env = { HAWSER_PROVIDER: 'rehearsal', NODE_OPTIONS: `--import=${stray}` }
  const program = await startProgram({ root, env, stdin: 'pipe' }, ['acp'])
  program.child.stdin?.write(`${JSON.stringify(HELLO)}\n`)
  await program.waitFor('"id":1')
  const before = program.stderr().length
  await program.waitFor('a stray line')
  await expect.poll(() => program.stderr().length).toBeGreaterThan(before)
  program.child.stdin?.end()
  await program.ended
  // Lines before the program has started are not its messages.
  const after = program.stdout().slice(program.stdout().indexOf('{'))
  expect(after).not.toContain('a stray line')
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
