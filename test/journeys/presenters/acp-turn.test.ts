import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { methods } from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { acpPlace, lastOption, newSession } from '../../support/presenters/acp-editor.ts'

test('a prompt streams its answer and its calls, and is answered after all of them', async () => {
  const place = await acpPlace()
  const { editor, workspace } = place
  await writeFile(join(workspace, 'notes.txt'), 'The harbour opens at six.\n')
  const id = await newSession(place)
  const { stopReason } = await editor.prompt(id, 'read notes.txt')
  expect(stopReason).toBe('end_turn')
  const [call] = editor.of('tool_call')
  expect(call).toMatchObject({ name: 'read', kind: 'read', title: 'read notes.txt' })
  expect(call?.locations).toEqual([{ path: join(workspace, 'notes.txt') }])
  expect(editor.of('tool_call_update').at(-1)).toMatchObject({
    toolCallId: call?.toolCallId,
    status: 'completed',
  })
  expect(editor.text).toContain('harbour')
  expect(editor.of('user_message_chunk')).toEqual([])
  const ids = new Set(editor.of('agent_message_chunk').map(({ messageId }) => messageId))
  expect(ids.size).toBe(2)
  expect(editor.of('session_info_update').at(-1)).toMatchObject({ title: 'read notes.txt' })
})

test('a denied call does not run, and the question has the scopes of a terminal', async () => {
  const place = await acpPlace({ permit: lastOption })
  const id = await newSession(place)
  await place.editor.prompt(id, 'Write "moored" to rope.txt')
  const [question] = place.editor.questions
  expect(question?.options.map(({ optionId, name, kind }) => [optionId, name, kind])).toEqual([
    ['1', 'Yes, once', 'allow_once'],
    ['2', 'Yes, for this Session: changes to this file', 'allow_always'],
    ['3', 'Yes, for this Session: changes to any file in the workspace', 'allow_always'],
    ['4', 'Yes, for this workspace: changes to this file', 'allow_always'],
    ['5', 'Yes, for this workspace: changes to any file in the workspace', 'allow_always'],
    ['6', 'No', 'reject_once'],
  ])
  expect(place.editor.of('tool_call_update').at(-1)).toMatchObject({ status: 'failed' })
})

test('a call is denied if the client cannot be asked, and the result says why', async () => {
  const place = await acpPlace({
    permit: () => {
      throw new Error('there is no such method')
    },
  })
  const id = await newSession(place)
  await place.editor.prompt(id, 'Write "moored" to rope.txt')
  expect(place.editor.of('tool_call_update').at(-1)).toMatchObject({
    status: 'failed',
    content: [{ content: { text: expect.stringContaining('The editor could not be asked.') } }],
  })
})

test('a Session that is open stays open if it cannot be loaded', async () => {
  const place = await acpPlace()
  const { editor, root } = place
  const id = await newSession(place)
  await editor.prompt(id, 'Hello')
  const elsewhere = join(root, 'elsewhere')
  await mkdir(elsewhere)
  for (const cwd of [elsewhere, join(root, 'missing')])
    for (const method of [methods.agent.session.load, methods.agent.session.resume]) {
      const params = { sessionId: id, cwd, mcpServers: [] }
      await expect(editor.agent.request(method, params)).rejects.toThrow()
    }
  expect(await editor.prompt(id, 'Hello again')).toMatchObject({ stopReason: 'end_turn' })
  const params = { sessionId: id, cwd: place.workspace, mcpServers: [] }
  await editor.agent.request(methods.agent.session.load, params)
  expect(await editor.prompt(id, 'And again')).toMatchObject({ stopReason: 'end_turn' })
})

test('a Session is loaded with the same conversation', async () => {
  const place = await acpPlace()
  const { editor, workspace } = place
  await writeFile(join(workspace, 'notes.txt'), 'The harbour opens at six.\n')
  const id = await newSession(place)
  await editor.prompt(id, 'read notes.txt')
  await editor.agent.request(methods.agent.session.close, { sessionId: id })
  const live = editor.text
  const calls = editor.of('tool_call')
  editor.updates.splice(0)
  await editor.agent.request(methods.agent.session.load, {
    sessionId: id,
    cwd: workspace,
    mcpServers: [],
  })
  expect(editor.text).toBe(live)
  expect(editor.of('tool_call')).toEqual(calls)
  expect(editor.of('user_message_chunk')).toMatchObject([{ content: { text: 'read notes.txt' } }])
})
