import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { TINY_IMAGES } from '../../../test/support/resources/tiny-images.ts'
import { readPrompt } from './content.ts'
import type { PromptBlock } from './protocol.ts'

const WORKSPACE = '/srv/harbour'
const PNG = TINY_IMAGES.png.toString('base64')

function read(prompt: readonly PromptBlock[], _meta?: Record<string, unknown>) {
  const result = readPrompt({ prompt: [...prompt], _meta }, ['/link', WORKSPACE])
  return result.ok ? result.value : result.error.kind
}

function text(words: string): PromptBlock {
  return { type: 'text', text: words }
}

test.each([
  ['ACP', { data: PNG, mimeType: 'image/png' }],
  ['dataUrl', { dataUrl: `data:image/png;base64,${PNG}`, mimeType: 'image/png', sizeBytes: 1 }],
  ['data_url', { data_url: `data:image/png;base64,${PNG}` }],
  ['image_url', { image_url: `data:image/png;base64,${PNG}` }],
  ['image_url of OpenAI', { image_url: { url: `data:image/png;base64,${PNG}` } }],
])('an image in the form of %s is an attachment', (_form, block) => {
  expect(read([text('Look.'), { type: 'image', name: 'quay.png', ...block }])).toMatchObject({
    text: 'Look.',
    attachments: [{ from: 'bytes', name: 'quay.png', bytes: TINY_IMAGES.png }],
  })
})

test.each([
  ['another type than its bytes', { data: PNG, mimeType: 'image/jpeg' }, 'type_mismatch'],
  ['a type that no model sees', { data: PNG, mimeType: 'image/svg+xml' }, 'unsupported_type'],
  ['a type that is no image', { data: PNG, mimeType: 'application/pdf' }, 'unsupported_type'],
  ['text for bytes', { data: 'quay!', mimeType: 'image/png' }, 'invalid_args'],
  ['no bytes', { mimeType: 'image/png' }, 'invalid_args'],
  ['no type', { data: PNG }, 'invalid_args'],
  ['a link for bytes', { image_url: 'https://example.com/quay.png' }, 'invalid_args'],
  [
    'two types',
    { dataUrl: `data:image/png;base64,${PNG}`, mimeType: 'image/gif' },
    'unsupported_type',
  ],
])('an image with %s is refused', (_what, block, kind) => {
  expect(read([text('Look.'), { type: 'image', ...block }])).toBe(kind)
})

test('an image without a name, or with that of another type, gets one for its type', () => {
  const image = (more: object): PromptBlock => ({
    type: 'image',
    data: PNG,
    mimeType: 'image/png',
    ...more,
  })
  const prompt = [
    image({}),
    image({ name: 'quay.jpg' }),
    image({ uri: 'file:///a/sea%20wall.PNG' }),
  ]
  expect(read(prompt)).toMatchObject({
    attachments: [{ name: 'image.png' }, { name: 'quay.jpg.png' }, { name: 'sea wall.PNG' }],
  })
})

test('what the person typed stays as typed around links, which are attachments, and mentions in the workspace', () => {
  const link = (uri: string, name: string): PromptBlock => ({ type: 'resource_link', uri, name })
  const inside = link(pathToFileURL('/srv/harbour/src/quay wall.ts').href, 'quay wall.ts')
  const outside = link('file:///etc/hosts', 'hosts')
  expect(read([text('Compare'), inside, text(' with '), outside, text('.')])).toEqual({
    text: 'Compare with .',
    attachments: [
      { from: 'link', uri: inside['uri'], name: 'quay wall.ts' },
      { from: 'link', uri: 'file:///etc/hosts', name: 'hosts' },
    ],
    mentions: [{ path: 'src/quay wall.ts', attachedAs: 'text' }],
    presenterContext: undefined,
  })
  expect(read([outside, text('What is it?')])).toMatchObject({ text: 'What is it?', mentions: [] })
  const spelt = link('file:///link/README.MD', 'README.MD')
  expect(read([text('Read'), spelt])).toMatchObject({
    text: 'Read',
    mentions: [{ path: 'README.MD', attachedAs: 'unsaved' }],
  })
})

test('embedded text is a labelled part after what was typed, and embedded bytes are attached', () => {
  const embedded = (resource: object): PromptBlock => ({ type: 'resource', resource })
  const ts = embedded({ uri: 'file:///srv/harbour/a.ts', mimeType: 'text/x-ts', text: 'let a\n' })
  const png = embedded({ uri: 'zed://paste', mimeType: 'image/png', blob: PNG })
  const zip = embedded({ uri: 'file:///x/a.zip', blob: 'UEsDBA==' })
  expect(read([text('Explain '), ts, text(' please'), png, zip])).toMatchObject({
    text: 'Explain  please\n\n[Embedded in this message: "a.ts", 6 bytes:]\nlet a\n[End of embedded text]',
    attachments: [{ name: 'paste.png' }, { name: 'a.zip' }],
  })
})

test('a recording is attached with a description that it is not played', () => {
  expect(read([{ type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' }])).toMatchObject({
    attachments: [
      { name: 'audio.wav', description: 'a recording, which is not played to the model' },
    ],
  })
})

test('presenter context is what `_meta.hawser` has, and never an attachment', () => {
  const image: PromptBlock = { type: 'image', data: PNG, mimeType: 'image/png' }
  const presenter_context = { file: 'a.ts' }
  expect(read([image], { hawser: { presenter_context }, other: 1 })).toMatchObject({
    attachments: [{ name: 'image.png' }],
    presenterContext: { file: 'a.ts' },
  })
  expect(read([image], { hawser: { presenter_context: { file: 1 } } })).toBe('invalid_args')
})

test.each([
  ['an unknown type', { type: 'hologram' }],
  ['no text', { type: 'text' }],
  ['a link without a target', { type: 'resource_link', name: 'a' }],
  ['a resource without content', { type: 'resource', resource: { uri: 'a:b' } }],
])('a block with %s is refused', (_what, block) => {
  expect(read([text('Look.'), block])).toBe('invalid_args')
})
