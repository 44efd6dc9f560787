import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LIMITS } from '../../../src/model/limits.ts'
import { buildPdf } from '../../support/resources/build-pdf.ts'
import { runCli } from '../../support/cli/cli.ts'
import { localServer, type LocalServer } from '../../support/http/local-server.ts'
import { picture } from '../../support/resources/sample-files.ts'
import { newSession, openStream, turn, watch } from '../../support/http/stream-client.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'

/** Files for the turn API, each under its name. */
const FILES: Readonly<Record<string, Buffer>> = {
  'drawing.png': TINY_IMAGES.png,
  'photo.jpg': TINY_IMAGES.jpeg,
  'photo.jpeg': TINY_IMAGES.jpeg,
  'moving.gif': TINY_IMAGES.gif,
  'small.webp': TINY_IMAGES.webp,
  'spec.pdf': buildPdf(['Forty berths']),
  'notes.md': Buffer.from('# Notes\n'),
  'notes.txt': Buffer.from('Forty berths.\n'),
  'berths.csv': Buffer.from('berth,length\n1,12\n'),
  'archive.zip': Buffer.from('PK'),
  'data.xlsx': Buffer.from('PK'),
}

async function place() {
  const server = await localServer()
  const folder = join(server.root, 'papers of Ann')
  await mkdir(folder)
  await Promise.all(
    Object.entries(FILES).map(([name, bytes]) => writeFile(join(folder, name), bytes)),
  )
  const id = await newSession(server)
  const send = async (message: string, ...names: string[]) => {
    const attachments = names.map((name) => join(folder, name))
    const stream = await turn(server, id, message, { attachments })
    await stream.ended
    expect(stream.of('process:exit')).toMatchObject([{ exitCode: 0 }])
    return stream
  }
  return { server, folder, id, send }
}

type Place = Awaited<ReturnType<typeof place>>

function refuse({ server, id }: Place, message: string, attachments: readonly string[]) {
  return server.api('POST', '/api/harness/turn', { sessionId: id, message, attachments })
}

/** What the next request shows of the Session so far, as text. */
async function nextRequest({ server, id }: Place): Promise<string> {
  const { stdout } = await runCli({ root: server.root }, 'request', id, '--prompt', 'Next')
  return stdout
}

/** The prompt mode of each message so far. */
async function promptModes({ server, id }: Place): Promise<unknown[]> {
  const stream = await watch(server, id)
  await stream.first('process:exit')
  const { body } = await server.api('GET', `/api/harness/session/${id}`)
  const { turns } = (body as { session: { turns: number } }).session
  await stream.until(() => stream.of('process:exit').length === turns)
  return stream.of('user:message').map(({ promptMode }) => promptMode)
}

async function logOf({ workspace }: LocalServer, id: string): Promise<string> {
  return readFile(join(workspace, '.hawser', 'sessions', `${id}.ndjson`), 'utf8')
}

test('every supported type is resolved before the Turn starts, without a warning [AT-045] [AT-047] [AT-054] [AT-063]', async () => {
  const one = await place()
  const names = Object.keys(FILES).filter((name) => !/zip|xlsx/.test(name))
  const stream = await one.send('Review this drawing', ...names)
  expect(stream.names.slice(0, 2)).toEqual(['session:init', 'attachments:resolved'])
  const [resolved] = stream.of('attachments:resolved')
  expect(resolved).toMatchObject({ errors: [] })
  const resources = (resolved?.['resources'] ?? []) as { name: string; source: string }[]
  expect(resources.map(({ name }) => name)).toEqual(names)
  expect(new Set(resources.map(({ source }) => source))).toEqual(new Set(['http']))
  expect(await promptModes(one)).toEqual(['blocks'])
  expect(await nextRequest(one)).not.toContain('Rejected attachments')
})

test('a Turn continues without the files that are refused, and the model is warned first [AT-068]', async () => {
  const one = await place()
  const stream = await one.send('Check these files.', 'drawing.png', 'archive.zip', 'spec.pdf')
  expect(stream.of('attachments:resolved')).toMatchObject([
    {
      resources: [{ name: 'drawing.png' }, { name: 'spec.pdf' }],
      errors: [
        {
          path: join(one.folder, 'archive.zip'),
          name: 'archive.zip',
          code: 'unsupported_type',
          reason: expect.stringContaining('.zip'),
        },
      ],
    },
  ])
  const request = await nextRequest(one)
  const [label, bullet, text] = ['Rejected attachments:', '- archive.zip: ', 'Check these files.']
  const places = [label, bullet, text].map((part) => request.indexOf(part))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(places[0]).toBeGreaterThan(0)
  const log = await logOf(one.server, one.id)
  expect([log.includes('papers of Ann'), request.includes('papers of Ann')]).toEqual([false, false])
})

test('one spreadsheet without text is refused with 400 and its details [AT-039] [AT-040] [AT-041] [AT-042] [AT-057] [AT-069]', async () => {
  const one = await place()
  const path = join(one.folder, 'data.xlsx')
  const answer = await refuse(one, ' ', [path])
  expect(answer).toMatchObject({
    status: 400,
    body: {
      ok: false,
      error: {
        type: 'ATTACHMENT_FAILURE',
        kind: 'attachments_failed',
        details: {
          category: 'ALL_ATTACHMENTS_FAILED_NO_TEXT',
          attachmentErrors: [
            { path, code: 'unsupported_type', reason: expect.stringContaining('.xlsx') },
          ],
          rejectedAttachmentCount: 1,
        },
      },
    },
  })
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  expect(await logOf(one.server, one.id)).not.toContain('papers of Ann')
})

test('a missing file with text runs as a plain string with the warning before the text [AT-071] [AT-074]', async () => {
  const one = await place()
  const stream = await one.send('Check this.', 'missing.png')
  expect(stream.of('attachments:resolved')).toMatchObject([
    { resources: [], errors: [{ path: join(one.folder, 'missing.png'), code: 'not_found' }] },
  ])
  expect(await promptModes(one)).toEqual(['string'])
  const request = await nextRequest(one)
  expect(request.indexOf('- missing.png: ')).toBeLessThan(request.indexOf('Check this.'))
})

test('blank text with a valid attachment is a Turn, and text alone is a plain string [AT-070]', async () => {
  const one = await place()
  await one.send('', 'notes.txt')
  await one.send('Hello')
  expect(await promptModes(one)).toEqual(['blocks', 'string'])
})

test('only regular files with readable, fitting bytes are accepted, whatever a client claims [AT-065]', async () => {
  const one = await place()
  const { folder } = one
  await symlink(join(folder, 'drawing.png'), join(folder, 'link.png'))
  await mkdir(join(folder, 'folder.png'))
  await writeFile(join(folder, 'liar.png'), 'no picture')
  await writeFile(join(folder, 'secret.txt'), 'x')
  await chmod(join(folder, 'secret.txt'), 0)
  const root = process.getuid?.() === 0
  const cases = [
    [join(folder, 'link.png'), 'symlink'],
    [join(folder, 'folder.png'), 'not_regular_file'],
    ['/dev/zero.png', 'not_found'],
    [join(folder, 'liar.png'), 'type_mismatch'],
    ['drawing.png', 'not_absolute'],
    ...(root ? [] : [[join(folder, 'secret.txt'), 'unreadable']]),
  ] as const
  const answer = await refuse(
    one,
    '',
    cases.map(([path]) => path ?? ''),
  )
  const { error } = answer.body as {
    error: { details: { attachmentErrors: { path: string; code: string; reason: string }[] } }
  }
  const { attachmentErrors } = error.details
  expect(attachmentErrors.map(({ path, code }) => [path, code])).toEqual(cases)
  expect(attachmentErrors.filter(({ reason }) => reason.includes(folder))).toEqual([])
})

test('10 MiB are accepted and one byte more is not; 18 MiB in all, in the order of the request [AT-066] [AT-067]', async () => {
  const one = await place()
  const sized = async (name: string, bytes: number) =>
    writeFile(join(one.folder, name), Buffer.alloc(bytes, 'a'))
  const most = LIMITS.attachment_bytes
  const rest = LIMITS.turn_attachment_bytes - most
  await Promise.all([
    sized('full.txt', most),
    sized('over.txt', most + 1),
    sized('large.txt', rest + 1),
    sized('rest.txt', rest),
    sized('one.txt', 1),
  ])
  const names = ['over.txt', 'full.txt', 'large.txt', 'rest.txt', 'one.txt']
  const stream = await one.send('Hello', ...names)
  expect(stream.of('attachments:resolved')).toMatchObject([
    {
      resources: [{ name: 'full.txt' }, { name: 'rest.txt' }],
      errors: [
        { name: 'over.txt', code: 'too_large', limit: most, actual: most + 1 },
        { name: 'large.txt', code: 'budget_exceeded' },
        { name: 'one.txt', code: 'budget_exceeded' },
      ],
    },
  ])
})

test('two files of one name in two folders are distinguished by what the client sent', async () => {
  const one = await place()
  const other = join(one.server.root, 'other')
  await mkdir(other)
  await writeFile(join(other, 'notes.md'), 'PNG?')
  const wrong = [join(other, 'drawing.png'), join(one.folder, 'absent.md')]
  const attachments = [join(one.folder, 'drawing.png'), wrong[0], join(other, 'notes.md'), wrong[1]]
  const stream = await turn(one.server, one.id, 'Look', { attachments })
  await stream.ended
  const [resolved] = stream.of('attachments:resolved')
  const errors = (resolved?.['errors'] ?? []) as { path: string }[]
  expect(errors.map(({ path }) => path)).toEqual(wrong)
  const watching = await watch(one.server, one.id)
  await watching.first('process:exit')
  expect(JSON.stringify(watching.received)).not.toContain(one.folder)
})

test('an upload is attached by its staged path, and shown again as a thumbnail', async () => {
  const one = await place()
  const { api, origin, token } = one.server
  const put = await api('PUT', '/api/harness/attachments?name=harbour.png', picture(1))
  const { path } = put.body as { path: string }
  const stream = await turn(one.server, one.id, 'What do you see?', { attachments: [path] })
  await stream.ended
  const [resolved] = stream.of('attachments:resolved')
  const [resource] = (resolved?.['resources'] ?? []) as { resource_id: string; width: number }[]
  expect(resource).toMatchObject({ name: 'harbour.png', kind: 'image' })
  const at = `/api/harness/session/${one.id}/resources/${resource?.resource_id}`
  const small = await fetch(`${origin}${at}?size=16`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const bytes = Buffer.from(await small.arrayBuffer())
  expect([small.status, small.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)].every((side) => side <= 16)).toBe(true)
  for (const size of ['0', '15', '4096', 'x', '16.5'])
    expect(await api('GET', `${at}?size=${size}`)).toMatchObject({ status: 400 })
  const text = await one.send('And this', 'notes.txt')
  const [described] = text.of('attachments:resolved')
  const [note] = (described?.['resources'] ?? []) as { resource_id: string }[]
  expect(
    await api('GET', `/api/harness/session/${one.id}/resources/${note?.resource_id}?size=64`),
  ).toMatchObject({ status: 415, body: { error: { kind: 'unsupported_type' } } })
})

test('reading a Resource does not end the Turn of a client that has disconnected', async () => {
  const one = await place()
  const first = await one.send('Look', 'drawing.png')
  const [resolved] = first.of('attachments:resolved')
  const [resource] = (resolved?.['resources'] ?? []) as { resource_id: string }[]
  const stream = await turn(one.server, one.id, 'Write "a" to a.txt')
  await stream.first('permission:request')
  await stream.cut()
  const at = `/api/harness/session/${one.id}/resources/${resource?.resource_id}`
  expect(await one.server.api('GET', at)).toMatchObject({ status: 200 })
  const path = `/api/harness/session/${one.id}/events?after_seq=${stream.ids.at(-1)}`
  const again = await openStream(one.server, { path })
  expect(await again.first('permission:request')).toMatchObject({ tool: 'write' })
})
