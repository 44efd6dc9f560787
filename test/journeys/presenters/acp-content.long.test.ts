import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ContentBlock, ListSessionsResponse } from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { acpProgram, newSession, type AcpPlace } from '../../support/presenters/acp-editor.ts'
import { errorOf } from '../../support/presenters/acp-errors.ts'
import { runCli } from '../../support/cli/cli.ts'
import { nextRequest, verifiedRequests } from '../../support/cli/mentioned.ts'
import { picture } from '../../support/resources/sample-files.ts'

const PICTURE = picture(7)
const IMAGE: ContentBlock = {
  type: 'image',
  data: PICTURE.toString('base64'),
  mimeType: 'image/png',
}

function text(words: string): ContentBlock {
  return { type: 'text', text: words }
}

function link(path: string, name: string): ContentBlock {
  return { type: 'resource_link', uri: pathToFileURL(path).href, name }
}

interface LoggedEvent {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

async function eventsOf({ workspace }: AcpPlace, id: string) {
  const path = join(workspace, '.hawser', 'sessions', `${id}.ndjson`)
  const log = await readFile(path, 'utf8')
  const events = log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LoggedEvent)
  return {
    log,
    of: (type: string) => events.filter((one) => one.type === type).map(({ data }) => data),
  }
}

test('[SR-038] [SR-044] [SR-045] an image with presenter context is seen and answered, and neither is in the place of the other', async () => {
  const place = await acpProgram()
  const id = await newSession(place)
  const _meta = { hawser: { presenter_context: { open_file: 'quay.ts' } } }
  await place.editor.prompt(id, [text('What do you see in this picture?'), IMAGE], { _meta })
  expect(place.editor.text).toMatch(/pixels|picture|image/)
  const { log, of } = await eventsOf(place, id)
  expect(of('user_message')).toMatchObject([
    {
      prompt_mode: 'blocks',
      presenter_context: { open_file: 'quay.ts' },
      resources: [{ handle: '@img1', kind: 'image', source: 'acp', media_type: 'image/png' }],
    },
  ])
  const [request] = of('provider_request')
  expect(request?.['projected']).toMatchObject([{ bytes: PICTURE.length, lifetime: 'turn' }])
  expect(of('provider_usage').length).toBeGreaterThan(0)
  expect(log).not.toContain(PICTURE.toString('base64').slice(0, 64))
  expect(log).not.toContain('base64')
  await place.editor.prompt(id, 'Thanks.')
  const { of: later } = await eventsOf(place, id)
  expect(later('provider_request').at(-1)?.['projected'] ?? []).toEqual([])
  const { stdout } = await runCli({ root: place.root }, 'log', 'verify', id, '--requests')
  expect(stdout).toContain('identical to the record')
})

test('[SR-010] [SR-011] [SR-023] [SR-050] links, embedded resources and recordings become Resources, and what cannot be read is said', async () => {
  const place = await acpProgram()
  const { root, workspace } = place
  const outside = join(root, 'outside')
  await mkdir(outside)
  await writeFile(join(outside, 'crew.txt'), 'Jan\nPiet\n')
  await writeFile(join(workspace, 'quay.ts'), 'export const quay = 1\n')
  await writeFile(join(workspace, 'hull.o'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]))
  await mkdir(join(workspace, 'deck'))
  for (let at = 0; at < 120; at += 1) await writeFile(join(workspace, 'deck', `plank-${at}`), '')
  const id = await newSession(place)
  await place.editor.prompt(id, [
    text('Compare '),
    link(join(outside, 'crew.txt'), 'crew.txt'),
    text(' with '),
    link(join(workspace, 'quay.ts'), 'quay.ts'),
    { type: 'resource_link', uri: 'https://example.com/tides?key=1', name: 'tides' },
    link(join(outside, 'gone.txt'), 'gone.txt'),
    link(outside, 'outside'),
    link(join(workspace, 'hull.o'), 'hull.o'),
    link(join(workspace, 'deck'), 'deck'),
    // A regular file that cannot be read, also not by root.
    { type: 'resource_link', uri: 'file:///proc/self/mem', name: 'mem' },
    { type: 'resource', resource: { uri: 'zed:///selection', text: 'let wall = 2' } },
    { type: 'resource', resource: { uri: 'file:///a/plan.png', blob: PICTURE.toString('base64') } },
    { type: 'audio', data: Buffer.from('RIFF').toString('base64'), mimeType: 'audio/wav' },
  ])
  const { log, of } = await eventsOf(place, id)
  const [message] = of('user_message')
  expect(message?.['text']).toBe(
    'Compare  with \n\n[Embedded in this message: "selection", 12 bytes:]\nlet wall = 2\n[End of embedded text]',
  )
  expect(message?.['resources']).toMatchObject([
    { kind: 'text', name: 'crew.txt', source_uri_scheme: 'file' },
    { kind: 'file', name: 'quay.ts', rehydratable: false },
    { kind: 'link', uri: 'https://example.com/tides', rehydratable: false },
    { kind: 'link', name: 'gone.txt', not_copied: 'not_found', source_uri_scheme: 'file' },
    { kind: 'link', name: 'outside', not_copied: 'not_regular_file', rehydratable: false },
    { kind: 'file', name: 'hull.o' },
    { kind: 'link', name: 'deck', not_copied: 'not_regular_file' },
    { kind: 'link', name: 'mem', not_copied: 'unreadable' },
    { kind: 'image', name: 'plan.png' },
    {
      kind: 'file',
      name: 'audio.wav',
      description: 'a recording, which is not played to the model',
    },
  ])
  expect(message?.['attachment_errors']).toBeUndefined()
  // Only what is in the workspace is a mention too: the text of a file, and the names in a folder.
  expect(message?.['mentions']).toMatchObject([
    { path: 'quay.ts', kind: 'file', lines: 1 },
    { path: 'deck', kind: 'folder', lines: 120, to_line: 100, truncated: true },
  ])
  expect(log).not.toContain(outside)
  expect(message?.['mention_errors']).toBeUndefined()
  const sent = await nextRequest(root)
  expect(sent).toContain('export const quay = 1')
  expect(sent).toContain('a recording, which is not played to the model')
  await verifiedRequests(root)
  expect(sent).toContain('gone.txt')
  expect(sent).toContain('a local file that was not copied: it does not exist')
  expect(place.editor.text).toContain('gone.txt was not copied: it does not exist')
  const [request] = of('provider_request')
  expect(request?.['projected']).toMatchObject([{ bytes: 9 }, { bytes: PICTURE.length }])
})

test('a linked file with unsaved changes is mentioned as the editor shows it, under the path that the editor uses', async () => {
  const buffers = new Map<string, string>()
  const fs = { readTextFile: true, writeTextFile: true }
  const place = await acpProgram({ capabilities: { fs }, buffers })
  const { editor, root } = place
  const cwd = join(root, 'opened')
  await symlink(place.workspace, cwd)
  for (const name of ['quay.ts', 'notes.md', 'saved.md']) {
    await writeFile(join(cwd, name), 'on disk\n')
    buffers.set(join(cwd, name), name === 'saved.md' ? 'on disk\n' : `${name} in the editor\n`)
  }
  const id = await newSession({ ...place, workspace: cwd })
  const names = [...buffers.keys()]
  await editor.prompt(id, [text('Read'), ...names.map((path) => link(path, basename(path)))])
  const { of } = await eventsOf(place, id)
  const [message] = of('user_message')
  expect(message?.['text']).toBe('Read')
  expect(message?.['mentions']).toMatchObject([
    { path: 'quay.ts', unsaved: true },
    { path: 'notes.md', unsaved: true },
  ])
  const sent = await nextRequest(root)
  expect(sent).toContain('quay.ts in the editor')
  expect(sent).toContain('notes.md in the editor')
  expect(new Set(editor.files)).toEqual(new Set(names.map((path) => `read ${path}`)))
  await editor.prompt(id, 'read quay.ts')
  expect(editor.of('tool_call').at(-1)?.locations).toEqual([{ path: join(cwd, 'quay.ts') }])
  const listed = await editor.agent.request<ListSessionsResponse>('session/list', { cwd })
  expect(listed.sessions).toMatchObject([{ sessionId: id, cwd }])
})

test('[SR-048] [SR-049] a link that cannot be copied never fails a prompt, alone or beside others, and leaves no path', async () => {
  const place = await acpProgram()
  const { root } = place
  const outside = join(root, 'outside')
  await mkdir(outside)
  await symlink('/etc/hostname', join(outside, 'link.txt'))
  await writeFile(join(outside, 'huge.txt'), Buffer.alloc(10 * 1024 * 1024 + 1, 'x'))
  await writeFile(join(outside, 'liar.png'), 'not a picture')
  await writeFile(join(outside, 'empty.txt'), '')
  const links = { 'gone.png': 'not_found', 'link.txt': 'symlink', 'huge.txt': 'too_large' }
  const others = { 'liar.png': 'type_mismatch', 'empty.txt': 'empty' }
  const id = await newSession(place)
  const alone = link(join(outside, 'gone.png'), '/home/of/somebody/gone.png')
  expect(await place.editor.prompt(id, [alone])).toMatchObject({ stopReason: 'end_turn' })
  const names = Object.keys({ ...links, ...others })
  const blocks = names.map((name) => link(join(outside, name), name))
  expect(await place.editor.prompt(id, blocks)).toMatchObject({ stopReason: 'end_turn' })
  const { log, of } = await eventsOf(place, id)
  const described = of('user_message').flatMap(({ resources }) => resources as object[])
  expect(described).toMatchObject(
    ['gone.png', ...names].map((name) => ({
      kind: 'link',
      name,
      not_copied: { ...links, ...others }[name],
      source_uri_scheme: 'file',
      rehydratable: false,
    })),
  )
  expect(described.some((one) => 'uri' in one)).toBe(false)
  expect(log).not.toContain(outside)
  expect(log).not.toContain('somebody')
  expect(await nextRequest(root)).toContain('it is a symbolic link')
  await verifiedRequests(root)
})

test('a prompt that contradicts itself, or has nothing usable, is refused', async () => {
  const place = await acpProgram()
  const id = await newSession(place)
  const kindOf = async (...prompt: ContentBlock[]) => {
    const { data } = await errorOf(place.editor.prompt(id, prompt))
    return (data as { readonly kind: string }).kind
  }
  const data = PICTURE.toString('base64')
  expect(await kindOf(text('Look.'), { type: 'image', data, mimeType: 'image/jpeg' })).toBe(
    'type_mismatch',
  )
  expect(await kindOf(text(' '))).toBe('invalid_args')
  expect(await kindOf()).toBe('invalid_args')
  expect(await kindOf(text('x'.repeat(1_048_577)))).toBe('too_large')
  const many = Object.fromEntries(Array.from({ length: 13 }, (_, at) => [`k${at}`, 'v']))
  const _meta = { hawser: { presenter_context: many } }
  expect(await errorOf(place.editor.prompt(id, 'Hello', { _meta }))).toMatchObject({
    data: { kind: 'too_large' },
  })
  expect(await place.editor.prompt(id, 'Hello')).toMatchObject({ stopReason: 'end_turn' })
})
