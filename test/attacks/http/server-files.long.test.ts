import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { NOBODY } from '../../support/cli/program.ts'
import { attackedServer } from './server-scene.ts'

const isRoot = process.getuid?.() === 0
const USERS = [
  { name: 'as this user', uid: undefined },
  ...(isRoot ? [{ name: 'as an unprivileged user', uid: NOBODY }] : []),
]

/** Names that may be attached, of things that are not files. Devices need root. */
async function specialFiles(folder: string): Promise<string[]> {
  const at = (name: string) => join(folder, name)
  await mkdir(folder)
  await mkdir(at('folder.txt'))
  execFileSync('mkfifo', ['-m', '666', at('pipe.txt')])
  const listener = createServer().listen(at('socket.md'))
  onTestFinished(() => void listener.close())
  await once(listener, 'listening')
  const devices = [
    ['zero.txt', 'c', '1', '5'],
    ['random.png', 'c', '1', '9'],
    ['tty.csv', 'c', '5', '0'],
    ['disk.pdf', 'b', '7', '200'],
  ] as const
  for (const [name, ...kind] of isRoot ? devices : []) {
    execFileSync('mknod', ['-m', '666', at(name), ...kind])
  }
  const made = isRoot ? devices.map(([name]) => name) : []
  return ['folder.txt', 'pipe.txt', 'socket.md', ...made].map(at)
}

describe.each(USERS)('the local server $name', ({ uid }) => {
  test('refuses devices, pipes, sockets and folders as attachments, with the reason, without opening them [AT-065] [AT-074]', async () => {
    const { ask, root, workspace } = await attackedServer(uid)
    const paths = await specialFiles(join(root, 'special'))
    const post = async (path: string, body: object) => {
      const headers = { 'Content-Type': 'application/json' }
      const answer = await ask({ method: 'POST', path, headers, body: JSON.stringify(body) })
      return { status: answer.status, text: answer.body, body: parsed(answer.body) }
    }
    const created = await post('/api/harness/session/create', { projectRoot: workspace })
    const sessionId = /ses_[0-9a-z]{26}/.exec(created.text)?.[0]
    const expected = paths.map((path) => ({
      path,
      code: 'not_regular_file',
      reason: expect.stringMatching(/file/) as string,
    }))
    const refused = await post('/api/harness/turn', { sessionId, message: '', attachments: paths })
    expect(refused).toMatchObject({
      status: 400,
      body: {
        error: { type: 'ATTACHMENT_FAILURE', details: { attachmentErrors: expected } },
      },
    })
    expect(await post('/api/harness/attachments/check', { paths })).toMatchObject({
      status: 200,
      body: { verdicts: expected.map((one) => ({ ...one, accepted: false })) },
    })
    const secret = join(root, 'special', 'secret.txt')
    await writeFile(secret, 'hidden content', { mode: 0o600 })
    const other = [
      join(root, 'special', '..', 'special', 'missing.png'),
      ...(uid === undefined ? [] : [secret]),
    ]
    const errors = other.map((path, at) => ({ path, code: at === 0 ? 'not_found' : 'unreadable' }))
    const unread = await post('/api/harness/turn', { sessionId, message: '', attachments: other })
    expect(unread).toMatchObject({
      status: 400,
      body: { error: { details: { attachmentErrors: errors } } },
    })
    expect(unread.text).not.toContain('hidden content')
    // Nothing may block on a pipe without a writer, or read a device without end.
    const text = await post('/api/harness/turn', {
      sessionId,
      message: 'Hello',
      attachments: paths,
    })
    expect([text.status, text.text.includes('"exitCode":0')]).toEqual([200, true])
  })
})

function parsed(text: string): unknown {
  return text.startsWith('{') ? JSON.parse(text) : undefined
}
