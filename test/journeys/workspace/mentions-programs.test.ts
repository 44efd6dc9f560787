import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openWorkspace } from '../../../src/index.ts'
import { localServer } from '../../support/http/local-server.ts'
import { nextRequest, sourcePlace, verifiedRequests } from '../../support/cli/mentioned.ts'
import { value } from '../../support/log/story.ts'
import { newSession, turn, watch } from '../../support/http/stream-client.ts'

// Programs name the files of a message explicitly; an `@` in their text is only text.

/** What a person cannot mention, a program cannot either. */
const REFUSED = [
  ['../secret.ts', 'outside_workspace'],
  ['.hawser/config.json', 'outside_workspace'],
  ['link.ts', 'symlink'],
  ['gone.ts', 'not_found'],
  ['tool.wasm', 'unsupported_type'],
] as const
const PATHS = ['src/index.ts', 'src/', ...REFUSED.map(([path]) => path)]
const TEXT = 'Look at these, not at @Makefile'

async function writeOthers(root: string, workspace: string): Promise<void> {
  await writeFile(join(root, 'secret.ts'), 'no\n')
  await writeFile(join(workspace, 'tool.wasm'), Buffer.from('\0asm\u0001\0\0\0'))
  await symlink('src/index.ts', join(workspace, 'link.ts'))
}

/** The next request has the content, and what is refused with the reason. */
async function includedInRequest(root: string): Promise<void> {
  const body = await nextRequest(root)
  expect(body).toContain('read from disk for this message, 1 line, 22 bytes:')
  expect(body).toContain('export const rope = 1')
  expect(body).toContain('Named in this message, but not included:')
  expect(body).not.toContain('touch sail')
  await verifiedRequests(root)
}

test('over HTTP, mentions are a list of paths; the stream says what is included and what is not', async () => {
  const server = await localServer()
  const { root, workspace } = server
  await mkdir(join(workspace, 'src'))
  await writeFile(join(workspace, 'src', 'index.ts'), 'export const rope = 1\n')
  await writeFile(join(workspace, 'Makefile'), 'all:\n\ttouch sail\n')
  await writeOthers(root, workspace)
  const id = await newSession(server)
  const sent = await turn(server, id, TEXT, { mentions: PATHS })
  await sent.ended
  expect(sent.of('process:exit')).toMatchObject([{ exitCode: 0 }])
  const watching = await watch(server, id)
  const [own] = sent.of('user:message')
  expect(await watching.first('user:message')).toMatchObject(own ?? {})
  expect(own).toMatchObject({
    text: TEXT,
    promptMode: 'string',
    mentions: [
      { path: 'src/index.ts', kind: 'file', bytes: 22, lines: 1 },
      { path: 'src', kind: 'folder', bytes: 9, lines: 1 },
    ],
    mentionErrors: REFUSED.map(([path, code]) => ({ path, code })),
  })
  await includedInRequest(root)
  const tooMany = { sessionId: id, message: TEXT, mentions: Array(1_000).fill('a.ts') }
  expect(await server.api('POST', '/api/harness/turn', tooMany)).toMatchObject({
    status: 400,
    body: { ok: false, error: { kind: 'invalid_args' } },
  })
})

test('through the library, mentions are a list of paths', async () => {
  const { root, workspace: path } = await sourcePlace()
  await writeOthers(root, path)
  const workspace = value(await openWorkspace(path, { home: join(root, 'home'), env: {} }))
  onTestFinished(() => workspace.close())
  const session = value(await workspace.create())
  const mentions = PATHS.map((one) => ({ path: one }))
  const { done } = value(await session.admit(TEXT, { mentions }))
  expect(value(await done).status).toBe('completed')
  for await (const update of session.stream({ after_seq: -1 })) {
    if (update.kind !== 'event' || update.event?.type !== 'user_message') continue
    expect(update.event.data).toMatchObject({
      text: TEXT,
      mentions: [{ path: 'src/index.ts' }, { path: 'src' }],
      mention_errors: REFUSED.map(([one, code]) => ({ path: one, code })),
    })
    break
  }
  await session.close()
  await includedInRequest(root)
})
