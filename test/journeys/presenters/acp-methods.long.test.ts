import { once } from 'node:events'
import { access, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  methods,
  type ListSessionsResponse,
  type SetSessionConfigOptionResponse,
} from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import {
  acpProgram,
  firstOption,
  lastOption,
  newSession,
  type AcpPlace,
} from '../../support/presenters/acp-editor.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { errorOf } from '../../support/presenters/acp-errors.ts'
import { picture } from '../../support/resources/sample-files.ts'

function open({ editor, workspace }: AcpPlace, method: 'load' | 'resume', sessionId: string) {
  const params = { sessionId, cwd: workspace, mcpServers: [] }
  return editor.agent.request(methods.agent.session[method], params)
}

test('the agent says what it offers, and nothing else', async () => {
  const { initialized } = await acpProgram()
  expect(initialized).toMatchObject({
    protocolVersion: 1,
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
    },
    authMethods: [],
  })
})

test('what is allowed once is asked again, and what is allowed for the Session is not', async () => {
  let answers = [firstOption, sessionOption]
  const place = await acpProgram({ permit: (request) => (answers.shift() ?? lastOption)(request) })
  const { editor, workspace } = place
  const id = await newSession(place)
  for (const name of ['a', 'b', 'c']) await editor.prompt(id, `Write "${name}" to ${name}.txt`)
  expect(editor.questions.length).toBe(2)
  expect(editor.questions[0]).toMatchObject({
    toolCall: { kind: 'edit', status: 'pending', locations: [{ path: join(workspace, 'a.txt') }] },
  })
  expect(await readFile(join(workspace, 'c.txt'), 'utf8')).toContain('c')
  expect(editor.of('tool_call_update').at(-1)).toMatchObject({
    status: 'completed',
    content: [{ type: 'diff', path: join(workspace, 'c.txt'), oldText: null }],
  })
  answers = [lastOption]
  const other = await newSession(place)
  await editor.prompt(other, 'Write "d" to d.txt')
  await expect(access(join(workspace, 'd.txt'))).rejects.toThrow()
})

/** For any file, until the process ends. */
function sessionOption({ options }: Parameters<typeof firstOption>[0]) {
  const wide = options.find(({ name }) => name.includes('any file in the workspace'))
  return { outcome: { outcome: 'selected' as const, optionId: wide?.optionId ?? '' } }
}

test('a client that declares that it cannot answer is not asked, and the call is denied', async () => {
  const place = await acpProgram({ capabilities: { _meta: { hawser: { answers: false } } } })
  const id = await newSession(place)
  const { stopReason } = await place.editor.prompt(id, 'Write "a" to a.txt')
  expect([stopReason, place.editor.questions]).toEqual(['end_turn', []])
  expect(place.editor.of('tool_call_update').at(-1)).toMatchObject({
    status: 'failed',
    content: [{ content: { text: expect.stringContaining('no user is available to ask') } }],
  })
  expect(await logOf(place, id)).toMatch(/"permission_decision".*"by":"nobody"/)
  await expect(access(join(place.workspace, 'a.txt'))).rejects.toThrow()
})

function logOf({ workspace }: AcpPlace, id: string): Promise<string> {
  return readFile(join(workspace, '.hawser', 'sessions', `${id}.ndjson`), 'utf8')
}

test.each(['session/cancel', '$/cancel_request'])(
  '%s ends a command and a question, and the prompt is answered with `cancelled`',
  async (way) => {
    let isAsked = () => {}
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve
    })
    const place = await acpProgram({
      permit: (request, signal) => {
        if (request.toolCall.kind === 'execute') return firstOption(request)
        isAsked()
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve({ outcome: { outcome: 'cancelled' } }))
        })
      },
    })
    const { editor } = place
    const id = await newSession(place)
    const run = async (text: string, reached: Promise<unknown>) => {
      const stop = new AbortController()
      const prompt = { sessionId: id, prompt: [{ type: 'text' as const, text }] }
      const options = { cancellationSignal: stop.signal }
      const ended = editor.agent.request(methods.agent.session.prompt, prompt, options)
      await reached
      if (way === '$/cancel_request') stop.abort()
      else await editor.agent.notify(methods.agent.session.cancel, { sessionId: id })
      return ended
    }
    const begun = () =>
      access(join(place.workspace, 'begun')).then(
        () => true,
        () => false,
      )
    const running = expect.poll(begun, { timeout: 60_000 }).toBe(true)
    expect(await run('run `touch begun; sleep 60`', running)).toMatchObject({
      stopReason: 'cancelled',
    })
    expect(await run('Write "a" to a.txt', asked)).toMatchObject({ stopReason: 'cancelled' })
    expect(await editor.prompt(id, 'Hello')).toMatchObject({ stopReason: 'end_turn' })
  },
)

test('modes and options are changed, recorded, and reported in both forms', async () => {
  const place = await acpProgram()
  const { editor } = place
  const id = await newSession(place)
  await editor.agent.request(methods.agent.session.setMode, { sessionId: id, modeId: 'auto' })
  await editor.until(() => editor.of('config_option_update').length === 1)
  expect(editor.of('current_mode_update')).toMatchObject([{ currentModeId: 'auto' }])
  await editor.prompt(id, 'Write "a" to a.txt')
  expect(editor.questions).toEqual([])
  const set = (configId: string, value: string) =>
    editor.agent.request<SetSessionConfigOptionResponse>('session/set_config_option', {
      sessionId: id,
      configId,
      value,
    })
  const { configOptions } = await set('effort', 'high')
  expect(configOptions.find((option) => option.id === 'effort')).toMatchObject({
    currentValue: 'high',
  })
  await set('mode', 'read-only')
  for (const [option, value] of [
    ['mode', 'everything'],
    ['effort', 'heroic'],
    ['provider', 'openai'],
    ['colour', 'red'],
  ] as const)
    expect(await errorOf(set(option, value))).toMatchObject({ data: { kind: 'invalid_args' } })
  await open(place, 'resume', id)
  const { stdout } = await runCli({ root: place.root }, 'log', 'show', id)
  expect(stdout).toContain('read-only')
})

test('Sessions are listed in pages, resumed, closed and deleted', async () => {
  const place = await acpProgram()
  const { editor, workspace } = place
  const ids: string[] = []
  for (let at = 0; at < 52; at += 1) ids.push(await newSession(place))
  const [first = ''] = ids
  await editor.prompt(first, 'Hello')
  const list = (cursor?: string, cwd?: string) =>
    editor.agent.request<ListSessionsResponse>('session/list', {
      ...(cwd === undefined ? {} : { cwd }),
      ...(cursor === undefined ? {} : { cursor }),
    })
  const one = await list(undefined, workspace)
  const two = await list(one.nextCursor ?? '')
  const listed = [...one.sessions, ...two.sessions]
  expect([one.sessions.length, two.nextCursor]).toEqual([50, undefined])
  expect(listed.map(({ sessionId }) => sessionId).toSorted()).toEqual(ids.toSorted())
  expect(listed[0]).toMatchObject({ sessionId: first, cwd: workspace, title: 'Hello' })
  expect(await list(undefined, join(place.root, 'home'))).toEqual({ sessions: [] })
  await editor.agent.request(methods.agent.session.close, { sessionId: first })
  expect(await errorOf(editor.prompt(first, 'Hello'))).toMatchObject({
    data: { kind: 'not_found' },
  })
  editor.updates.splice(0)
  await open(place, 'resume', first)
  expect(editor.text).toBe('')
  expect(await editor.prompt(first, 'Hello')).toMatchObject({ stopReason: 'end_turn' })
  await editor.agent.request(methods.agent.session.delete, { sessionId: first })
  expect(await errorOf(open(place, 'load', first))).toMatchObject({ data: { kind: 'not_found' } })
})

test('commands and Skills are offered, and a command is not a Turn', async () => {
  const place = await acpProgram()
  const { editor, workspace } = place
  const id = await newSession(place)
  const { availableCommands } = await editor.until(() => editor.of('available_commands_update')[0])
  expect(availableCommands.map(({ name }) => name)).toEqual(['compact', 'reload', 'undo', 'redo'])
  await editor.prompt(id, 'Write "a" to a.txt')
  editor.updates.splice(0)
  const said = async (prompt: string) => {
    editor.updates.splice(0)
    expect(await editor.prompt(id, prompt)).toMatchObject({ stopReason: 'end_turn' })
    return editor.text
  }
  // What the Events of a command say is not sent a second time.
  expect(await said('/undo')).toBe('- a.txt: removed')
  await expect(access(join(workspace, 'a.txt'))).rejects.toThrow()
  expect(await said('/redo')).toBe('- a.txt: restored')
  await access(join(workspace, 'a.txt'))
  expect(await said('/compact ')).toContain('Nothing to compact')
  expect(await said('/reload')).toContain('Nothing to reload')
  const turns = (await logOf(place, id)).split('"turn_started"').length
  const skill = join(place.root, 'home', 'skills', 'moor')
  await mkdir(skill, { recursive: true, mode: 0o700 })
  const head = '---\nname: moor\ndescription: Moor a ship.\n---\n'
  await writeFile(join(skill, 'SKILL.md'), `${head}Moor it.\n`)
  expect(await said('/reload')).toContain('Reloaded: ')
  const [offered] = editor.of('available_commands_update')
  expect(offered?.availableCommands.at(-1)).toMatchObject({ name: 'moor' })
  expect(editor.of('tool_call')).toEqual([])
  expect((await logOf(place, id)).split('"turn_started"').length).toBe(turns)
  expect(await errorOf(editor.prompt(id, '/compact twice'))).toMatchObject({
    data: { kind: 'invalid_args' },
  })
  for (const text of ['/frobnicate the quay', '/usr/bin is a folder', '/', '//compact']) {
    await said(text)
    expect(await logOf(place, id)).toContain(`"text":"${text}"`)
  }
})

test('[SH-036] a Skill and its sources are named in a prompt, and the Session hydrates them', async () => {
  const root = await freshFolder()
  const skill = join(root, 'home', 'skills', 'moor')
  await mkdir(skill, { recursive: true, mode: 0o700 })
  const source = 'context_sources:\n  - id: tides\n    file: tides.txt\n'
  await writeFile(
    join(skill, 'SKILL.md'),
    `---\nname: moor\ndescription: Moor a ship.\n${source}---\nMoor it.\n`,
  )
  await mkdir(join(root, 'workspace'))
  await writeFile(join(root, 'workspace', 'tides.txt'), 'High water at noon.\n')
  const place = await acpProgram({ root })
  const { editor, workspace } = place
  const id = await newSession(place)
  const { availableCommands } = await editor.until(() => editor.of('available_commands_update')[0])
  expect(availableCommands.at(-1)).toMatchObject({ name: 'moor', description: 'Moor a ship.' })
  await editor.prompt(id, '/moor --with tides the ship')
  const log = await readFile(join(workspace, '.hawser', 'sessions', `${id}.ndjson`), 'utf8')
  const events = log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; data: object })
  expect(events.find(({ type }) => type === 'skill_activation')?.data).toMatchObject({
    name: 'moor',
    activated_by: 'user',
  })
  expect(events.find(({ type }) => type === 'skill_context_hydration')?.data).toMatchObject({
    context_source_id: 'tides',
    invoked_by: 'person',
    status: 'ok',
  })
})

test('a Session of 500 calls with a checkpoint is loaded in another process as it was live', async () => {
  const first = await acpProgram()
  const { workspace } = first
  await writeFile(join(workspace, 'notes.txt'), `${'The harbour opens at six. '.repeat(20)}\n`)
  const id = await newSession(first)
  const image = picture(7).toString('base64')
  await first.editor.prompt(id, [
    { type: 'text', text: 'What do you see?' },
    { type: 'image', data: image, mimeType: 'image/png' },
  ])
  await first.editor.prompt(id, 'Plan: cast off, then moor')
  const steps = Array.from({ length: 50 }, () => 'read notes.txt').join(', then ')
  for (let turn = 0; turn < 10; turn += 1) await first.editor.prompt(id, steps)
  await first.editor.prompt(id, '/compact')
  expect(first.editor.text).toContain('The Log keeps everything')
  await first.editor.prompt(id, '/compact undo')
  expect(first.editor.text.split('The last compaction was undone.').length).toBe(2)
  await first.editor.prompt(id, '/compact')
  await first.editor.prompt(id, 'read notes.txt')
  first.program.child.stdin?.end()
  await first.program.ended
  const capabilities = { session: { notices: {}, compaction: {} } }
  const second = await acpProgram({ root: first.root, capabilities })
  await open(second, 'load', id)
  const { editor } = second
  // Only this client declared that it shows compactions.
  expect(first.editor.of('compaction_update')).toEqual([])
  expect(editor.of('compaction_update')).toMatchObject([
    { status: 'completed', _meta: { hawser: { trigger: 'manual' } } },
    { status: 'completed' },
  ])
  expect(editor.of('plan')).toEqual(first.editor.of('plan'))
  expect(editor.of('plan').length).toBe(1)
  const [, attached] = editor.of('user_message_chunk')
  expect(attached?.content).toMatchObject({
    type: 'resource_link',
    uri: expect.stringMatching(/^hawser:\/\/ses_\w+\/img1\/image\.png$/),
    mimeType: 'image/png',
  })
  expect(JSON.stringify(editor.updates)).not.toContain(image.slice(0, 64))
  const resultsOf = (place: AcpPlace) =>
    place.editor.of('tool_call_update').filter(({ status }) => status === 'completed')
  expect(editor.of('tool_call').length).toBeGreaterThanOrEqual(500)
  expect(editor.of('tool_call')).toEqual(first.editor.of('tool_call'))
  expect(resultsOf(second)).toEqual(resultsOf(first))
  expect(editor.of('user_message_chunk').length).toBe(14)
  expect(messagesOf(second)).toEqual(messagesOf(first))
  expect(await editor.prompt(id, 'Hello')).toMatchObject({ stopReason: 'end_turn' })
})

/** The text of each message of the agent in a Turn, by its id. */
function messagesOf({ editor }: AcpPlace): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const { messageId, content } of editor.of('agent_message_chunk')) {
    if (content.type !== 'text' || messageId?.startsWith('trn_') !== true) continue
    texts.set(messageId, `${texts.get(messageId) ?? ''}${content.text}`)
  }
  return texts
}

test('a file with unsaved changes is read and changed in the editor, and undo leaves it', async () => {
  const buffers = new Map<string, string>()
  const fs = { readTextFile: true, writeTextFile: true }
  const place = await acpProgram({ capabilities: { fs }, buffers })
  const { editor, workspace } = place
  const path = join(workspace, 'notes.txt')
  await writeFile(path, 'The harbour opens at six.\n')
  buffers.set(path, 'The harbour opens at seven.\n')
  const id = await newSession(place)
  await editor.prompt(id, 'read notes.txt')
  expect(editor.text).toContain('seven')
  await editor.prompt(id, 'In notes.txt, replace "seven" with "eight".')
  expect(buffers.get(path)).toBe('The harbour opens at eight.\n')
  expect(await readFile(path, 'utf8')).toBe('The harbour opens at six.\n')
  await editor.prompt(id, '/undo')
  expect(editor.text).toContain('notes.txt: not restored: changed since')
  expect(buffers.get(path)).toBe('The harbour opens at eight.\n')
  await editor.prompt(id, 'Write "b" to b.txt')
  expect(await readFile(join(workspace, 'b.txt'), 'utf8')).toContain('b')
  // The editor is not asked for a file outside the workspace, even if it has it open.
  const outside = join(place.root, 'secret.txt')
  await writeFile(outside, 'on disk\n')
  buffers.set(outside, 'in the editor\n')
  editor.updates.splice(0)
  await editor.prompt(id, 'read ../secret.txt')
  expect(editor.of('tool_call_update').at(-1)).toMatchObject({ status: 'failed' })
  expect(editor.files.filter((asked) => !asked.includes(workspace))).toEqual([])
  const results = (await logOf(place, id))
    .split('\n')
    .filter((line) => line.includes('"tool_result"'))
  expect(results[1]).toContain('+The harbour opens at eight.')
})

test('a second client watches a Turn of the first, and acts when it has ended', async () => {
  const answered = new AbortController()
  const first = await acpProgram({
    permit: async (request) => {
      await once(answered.signal, 'abort')
      return firstOption(request)
    },
  })
  const id = await newSession(first)
  const second = await acpProgram({ root: first.root })
  await open(second, 'load', id)
  const running = first.editor.prompt(id, 'Write "a" to a.txt')
  await first.editor.until(() => first.editor.questions.length === 1)
  await second.editor.until(() => second.editor.of('tool_call').length === 1)
  expect(second.editor.of('user_message_chunk')).toMatchObject([
    { content: { text: 'Write "a" to a.txt' } },
  ])
  expect(await errorOf(second.editor.prompt(id, 'Hello'))).toMatchObject({
    data: { kind: 'session_busy' },
  })
  const { stdout: sessions } = await runCli({ root: first.root }, 'sessions', '--json')
  expect(JSON.parse(sessions)).toMatchObject({ sessions: [{ session_id: id, busy: true }] })
  const { stdout: events } = await runCli({ root: first.root }, 'log', 'show', id)
  expect(events).toContain('tool_call')
  answered.abort()
  await running
  await second.editor.until(() =>
    second.editor.of('tool_call_update').some(({ status }) => status === 'completed'),
  )
  await second.editor.until(() => second.editor.of('session_info_update').length > 0)
  expect(await second.editor.prompt(id, 'Hello')).toMatchObject({ stopReason: 'end_turn' })
})
