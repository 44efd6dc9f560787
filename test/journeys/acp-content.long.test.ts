import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ContentBlock } from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { acpProgram, newSession, type AcpPlace } from '../support/acp-editor.ts'
import { errorOf } from '../support/acp-errors.ts'
import { runCli } from '../support/cli.ts'
import { picture } from '../support/sample-files.ts'

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

test('[SR-010] [SR-011] [SR-023] links, embedded resources and recordings become Resources, and what cannot be read is said', async () => {
  const place = await acpProgram()
  const { root, workspace } = place
  const outside = join(root, 'outside')
  await mkdir(outside)
  await writeFile(join(outside, 'crew.txt'), 'Jan\nPiet\n')
  await writeFile(join(workspace, 'quay.ts'), 'export const quay = 1\n')
  const id = await newSession(place)
  await place.editor.prompt(id, [
    text('Compare '),
    link(join(outside, 'crew.txt'), 'crew.txt'),
    text(' with '),
    link(join(workspace, 'quay.ts'), 'quay.ts'),
    { type: 'resource_link', uri: 'https://example.com/tides?key=1', name: 'tides' },
    link(join(outside, 'gone.txt'), 'gone.txt'),
    link(outside, 'outside'),
    { type: 'resource', resource: { uri: 'zed:///selection', text: 'let wall = 2' } },
    { type: 'resource', resource: { uri: 'file:///a/plan.png', blob: PICTURE.toString('base64') } },
    { type: 'audio', data: Buffer.from('RIFF').toString('base64'), mimeType: 'audio/wav' },
  ])
  const { of } = await eventsOf(place, id)
  const [message] = of('user_message')
  expect(message?.['text']).toBe(
    'Compare crew.txt with quay.ts tides gone.txt outside selection plan.png\n\n[Embedded in this message: "selection", 12 bytes:]\nlet wall = 2\n[End of embedded text]',
  )
  expect(message?.['resources']).toMatchObject([
    { kind: 'text', name: 'crew.txt', source_uri_scheme: 'file' },
    { kind: 'file', name: 'quay.ts', rehydratable: false },
    { kind: 'link', uri: 'https://example.com/tides', rehydratable: false },
    { kind: 'image', name: 'plan.png' },
    {
      kind: 'file',
      name: 'audio.wav',
      description: 'a recording, which is not played to the model',
    },
  ])
  expect(message?.['attachment_errors']).toMatchObject([
    { name: 'gone.txt', code: 'not_found' },
    { name: 'outside', code: 'not_regular_file' },
  ])
  expect(place.editor.text).toContain('gone.txt was not attached')
  const [request] = of('provider_request')
  expect(request?.['projected']).toMatchObject([{ bytes: 9 }, { bytes: PICTURE.length }])
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
  expect(await kindOf(link('/gone.png', 'gone.png'))).toBe('attachments_failed')
  await place.editor.until(() => place.editor.of('session_info_update').length > 0)
  expect(place.editor.of('user_message_chunk')).toEqual([])
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
