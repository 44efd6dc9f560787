import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../test/support/host/folder.ts'
import { drawing, png } from '../../test/support/resources/drawing.ts'
import { harnessPlace } from '../../test/support/session/harness-place.ts'
import { value } from '../../test/support/log/story.ts'
import { buildPdf } from '../../test/support/resources/build-pdf.ts'
import { Conversation } from '../history/conversation.ts'
import { loadParts } from '../request/load-parts.ts'
import { resolveAttachmentsToContentBlocks } from './content-blocks.ts'

function picture(): Buffer {
  const { width, height, pixels } = drawing(3)
  return png(width, height, pixels)
}

async function folderWith(files: Readonly<Record<string, Buffer | string>>) {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(workspace)
  const paths: string[] = []
  for (const [name, content] of Object.entries(files)) {
    paths.push(join(root, name))
    await writeFile(join(root, name), content)
  }
  return { workspace, paths }
}

test('[AT-002] [AT-003] [AT-011] [AT-037] [AT-044] [AT-053] text, a picture and notes become text, descriptors, an image part and a text part', async () => {
  const image = picture()
  const { workspace, paths } = await folderWith({ 'drawing.png': image, 'notes.md': '# Notes\n' })
  const resolved = value(
    await resolveAttachmentsToContentBlocks('Review this drawing', paths, { workspace }),
  )
  expect([resolved.promptMode, resolved.errors]).toEqual(['blocks', []])
  expect(
    resolved.contentBlocks.map((part) =>
      part.type === 'text' ? part.text.split(',')[0] : [part.media_type, part.handle, part.bytes],
    ),
  ).toEqual([
    'Review this drawing',
    '[@img1: image',
    '[@txt2: text',
    ['image/png', '@img1', image],
    ['text/markdown', '@txt2', Buffer.from('# Notes\n')],
  ])
})

test('[AT-009] [AT-021] [AT-055] [AT-056] of a PNG, a ZIP and a PDF only the ZIP is refused, and the warning comes first', async () => {
  const { workspace, paths } = await folderWith({
    'photo.png': picture(),
    'archive.zip': 'PK\u0003\u0004',
    'spec.pdf': buildPdf(['one page']),
  })
  const { contentBlocks, errors, promptMode } = value(
    await resolveAttachmentsToContentBlocks('Check these files.', paths, { workspace }),
  )
  expect(promptMode).toBe('blocks')
  expect(errors.map(({ code, name }) => [code, name])).toEqual([
    ['unsupported_type', 'archive.zip'],
  ])
  expect(errors[0]?.reason).toContain('.zip')
  const [warning, text] = contentBlocks
  expect(warning?.type === 'text' ? warning.text.split('\n').slice(0, 2) : []).toEqual([
    '1 attachment was rejected and cannot be seen.',
    'Rejected attachments:',
  ])
  expect(text).toMatchObject({ type: 'text', text: 'Check these files.' })
  expect(contentBlocks.flatMap((part) => (part.type === 'blob' ? [part.handle] : []))).toEqual([
    '@img1',
    '@pdf2',
  ])
})

test('[AT-010] [AT-013] [AT-059] [AT-060] when every attachment failed and there is text, it is a string: warning, blank line, text', async () => {
  const { workspace } = await folderWith({})
  const paths = [join(workspace, 'missing.png')]
  const { contentBlocks, errors, promptMode } = value(
    await resolveAttachmentsToContentBlocks('Check this.', paths, { workspace }),
  )
  expect(promptMode).toBe('string')
  expect(errors).toMatchObject([{ code: 'not_found', name: 'missing.png' }])
  expect(contentBlocks).toHaveLength(1)
  const [only] = contentBlocks
  const text = only?.type === 'text' ? only.text : ''
  expect(text.endsWith('\n\nCheck this.')).toBe(true)
  expect(text.startsWith('1 attachment was rejected')).toBe(true)
  expect(text).not.toContain(workspace)
})

test('[AT-008] without text and with only refused attachments it fails, and nothing is stored', async () => {
  const { workspace, paths } = await folderWith({ 'data.xlsx': 'PK' })
  const resolved = await resolveAttachmentsToContentBlocks(' ', [...paths, 7], { workspace })
  expect(resolved.ok ? undefined : [resolved.error.kind, resolved.error.details]).toMatchObject([
    'attachments_failed',
    {
      category: 'ALL_ATTACHMENTS_FAILED_NO_TEXT',
      attachmentErrors: [{ path: paths[0], code: 'unsupported_type' }, { code: 'not_absolute' }],
      rejectedAttachmentCount: 2,
    },
  ])
  expect(await readdir(join(workspace, '.hawser', 'blobs'))).toEqual([])
})

test('[AT-052] a message without attachments is one text part, and nothing is read or stored', async () => {
  const { workspace } = await folderWith({})
  expect(value(await resolveAttachmentsToContentBlocks('Hello', [], { workspace }))).toEqual({
    contentBlocks: [{ type: 'text', text: 'Hello', lifetime: 'stable' }],
    errors: [],
    promptMode: 'string',
  })
})

test('[SR-001] [AT-020] a Turn shows from the Log exactly what the resolver returns', async () => {
  const place = await harnessPlace()
  const path = join(place.workspace, 'drawing.png')
  await writeFile(path, picture())
  const paths = [path, join(place.workspace, 'none.png')]
  const session = value(await place.harness.create({ provider: 'rehearsal', model: 'rehearsal' }))
  const attachments = paths.map((one) => ({ from: 'path', path: one }) as const)
  const { turn, done } = value(await session.admit('Look', { attachments }))
  value(await done)
  const items = new Conversation(session.events, { turn, replay: 'attach-turn' }).items()
  const { items: loaded } = await loadParts(items, place.parts.log.store)
  const shown = loaded.flatMap((item) => (item.kind === 'user' ? item.parts : []))
  const { workspace } = place
  const { contentBlocks } = value(
    await resolveAttachmentsToContentBlocks('Look', paths, { workspace }),
  )
  const anyName = (part: (typeof shown)[number]) => ({ ...part, resource: undefined })
  expect(shown.map(anyName)).toEqual(contentBlocks.map(anyName))
})
