import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildPdf } from '../../support/resources/build-pdf.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { localServer } from '../../support/http/local-server.ts'
import { openRehearsal } from '../../support/providers/rehearsal-server.ts'
import { newSession, turn } from '../../support/http/stream-client.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'

const TURN = '/api/harness/turn'

test('a path is an absolute path in a string, and what a client says about a file decides nothing [AT-062]', async () => {
  const server = await localServer()
  const { api, origin, token, root } = server
  const id = await newSession(server)
  const notes = join(root, 'notes.txt')
  await writeFile(notes, 'Forty berths.\n')
  const described = { path: notes, name: 'notes.png', mimeType: 'image/png', kind: 'image' }
  for (const attachments of [[described], notes, { 0: notes, length: 1 }, [[notes]], [notes, null]])
    expect(await api('POST', TURN, { sessionId: id, message: 'Look', attachments })).toMatchObject({
      status: 400,
      body: { error: { type: 'INVALID_REQUEST' } },
    })
  for (const path of ['notes.txt', './notes.txt', '~/notes.txt', `file://${notes}`])
    expect(
      await api('POST', TURN, { sessionId: id, message: '', attachments: [path] }),
    ).toMatchObject({
      status: 400,
      body: { error: { details: { attachmentErrors: [{ path, code: 'not_absolute' }] } } },
    })
  // The type that an upload declares is wrong in both directions.
  const upload = async (name: string, type: string, bytes: Buffer) => {
    const answer = await fetch(`${origin}/api/harness/attachments?name=${name}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      body: new Uint8Array(bytes),
    })
    return (await answer.json()) as { path: string; mediaType: string }
  }
  const text = await upload('a.txt', 'image/png', Buffer.from('text'))
  const image = await upload('a.png', 'text/plain', TINY_IMAGES.png)
  const liar = await upload('b.png', 'image/png', Buffer.from('text'))
  expect([text, image, liar].map(({ mediaType }) => mediaType)).toEqual([
    'text/plain',
    'image/png',
    'application/octet-stream',
  ])
  const attachments = [text.path, image.path, liar.path]
  const stream = await turn(server, id, 'Look', { attachments })
  await stream.ended
  expect(stream.of('attachments:resolved')).toMatchObject([
    {
      resources: [{ kind: 'text' }, { kind: 'image' }],
      errors: [{ path: liar.path, code: 'type_mismatch' }],
    },
  ])
})

test('nine extensions are accepted in any case, and no other one [AT-064]', async () => {
  const server = await localServer()
  const id = await newSession(server)
  const { png, jpeg, gif, webp } = TINY_IMAGES
  const text = Buffer.from('a,b\n')
  const known = {
    png,
    jpg: jpeg,
    jpeg,
    gif,
    webp,
    pdf: buildPdf(['a']),
    txt: text,
    md: text,
    csv: text,
  }
  const good = Object.entries(known).flatMap(([extension, bytes]) => [
    { name: `a.${extension}`, bytes },
    { name: `b.${extension.toUpperCase()}`, bytes },
  ])
  const other = ['svg', 'html', 'exe', 'tiff', 'json', 'txt~', 'png.zip', 'tar.gz', 'heic', 'js']
  const bad = [...other.map((extension) => `a.${extension}`), 'a', 'png', '.png', 'a.', 'a.png.']
  for (const { name, bytes } of good) await writeFile(join(server.root, name), bytes)
  for (const name of bad) await writeFile(join(server.root, name), text)
  const paths = (names: readonly string[]) => names.map((name) => join(server.root, name))
  const all = paths([...good.map(({ name }) => name), ...bad])
  const stream = await turn(server, id, 'Look', { attachments: all })
  await stream.ended
  const [resolved] = stream.of('attachments:resolved')
  expect(resolved).toMatchObject({
    resources: good.map(({ name }) => ({ name })),
    errors: paths(bad).map((path) => ({ path, code: 'unsupported_type' })),
  })
})

test('a path in an answer is what this client sent, however it is spelled [AT-074]', async () => {
  const server = await localServer()
  const id = await newSession(server)
  const folder = join(server.root, 'papers')
  await mkdir(folder)
  await writeFile(join(folder, 'notes.txt'), 'Forty berths.\n')
  const spelled = [
    `${folder}/../papers/./missing.png`,
    `/${folder}//gone.txt`,
    `${folder}/notes.txt/`,
    `${folder}/é\u0301.zip`,
  ]
  const refused = await server.api('POST', TURN, {
    sessionId: id,
    message: '',
    attachments: spelled,
  })
  const errors = spelled.map((path) => expect.objectContaining({ path }) as object)
  expect(refused.body).toMatchObject({ error: { details: { attachmentErrors: errors } } })
  const check = await server.api('POST', '/api/harness/attachments/check', { paths: spelled })
  expect(check.body).toMatchObject({ verdicts: errors })
  const attachments = [`${folder}/../papers/notes.txt`, ...spelled]
  const stream = await turn(server, id, 'Look', { attachments })
  await stream.ended
  expect(stream.of('attachments:resolved')).toMatchObject([
    { resources: [{ name: 'notes.txt' }], errors },
  ])
})

test('what is resolved reaches the provider as blocks after the warning, and text alone as a string [AT-071] [AT-072] [AT-073]', async () => {
  const vendor = await openRehearsal()
  const server = await localServer({
    env: { ANTHROPIC_API_KEY: CANARY_KEY, ANTHROPIC_BASE_URL: vendor.baseUrl('messages') },
  })
  const id = await newSession(server, { provider: 'anthropic', model: 'claude-opus-4-8' })
  const files = {
    'drawing.png': TINY_IMAGES.png,
    'spec.pdf': buildPdf(['Forty berths']),
    'notes.txt': Buffer.from('Forty berths.\n'),
  }
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(server.root, name), bytes)
  const names = ['drawing.png', 'archive.zip', 'spec.pdf', 'notes.txt', 'missing.png']
  await writeFile(join(server.root, 'archive.zip'), 'PK')
  const ask = async (message: string, ...given: string[]) => {
    const attachments = given.map((name) => join(server.root, name))
    const stream = await turn(server, id, message, { attachments })
    await stream.ended
    expect(stream.of('process:exit')).toMatchObject([{ exitCode: 0 }])
    const { messages = [] } = (vendor.requests.at(-1)?.body ?? {}) as { messages?: Message[] }
    return { stream, content: messages.findLast(({ role }) => role === 'user')?.content }
  }
  const first = await ask('Check these files.', ...names)
  expect(first.stream.of('attachments:resolved')).toMatchObject([
    { errors: [{ name: 'archive.zip' }, { name: 'missing.png' }] },
  ])
  const base64 = (name: keyof typeof files) => files[name].toString('base64')
  expect(blocksOf(first.content)).toMatchObject([
    {
      type: 'text',
      text: expect.stringMatching(
        /^[^]*Rejected attachments:\n- archive\.zip: [^]*- missing\.png: /,
      ),
    },
    { type: 'text', text: 'Check these files.' },
    ...['drawing.png', 'spec.pdf', 'notes.txt'].map((name) => ({
      type: 'text',
      text: expect.stringContaining(`"${name}"`) as string,
    })),
    {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: base64('drawing.png') },
    },
    {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: base64('spec.pdf') },
    },
    {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'Forty berths.\n' },
    },
  ])
  const second = await ask('And without files?')
  expect(blocksOf(second.content)).toMatchObject([
    { type: 'text', text: expect.stringContaining('And without files?') },
  ])
})

interface Message {
  readonly role: string
  readonly content: unknown
}

function blocksOf(content: unknown): unknown[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content as unknown[])
}
