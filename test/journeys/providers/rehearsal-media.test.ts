import { expect, test } from 'vitest'
import type { Part } from '../../../src/model/conversation.ts'
import { BlobKey } from '../../../src/model/ids.ts'
import type { Surface } from '../../../src/model/surface.ts'
import { encode, frame } from '../../../src/providers/rehearsal/encode.ts'
import { rehearsalProvider } from '../../../src/providers/rehearsal/stream.ts'
import { describe as look } from '../../../src/resources/describe.ts'
import {
  canDrawAll,
  DRAWN_FORMATS,
  drawing,
  encodeDrawing,
} from '../../support/resources/drawing.ts'
import { buildPdf } from '../../support/resources/build-pdf.ts'

// The path of bytes in process: into a request, to the model, and to an answer that shows which bytes arrived.

const surface: Surface = {
  contract_version: 'hw1',
  model: 'rehearsal',
  system: [],
  tools: [],
  params: { replay: 'attach-turn', late_role: 'developer', tool_choice: 'auto', limits: {} },
}

const provider = rehearsalProvider({ chunk: 24, delayMs: 0, describe: look })

async function answerTo(words: string, ...files: readonly Omit<BlobPart, 'type'>[]) {
  const text = { type: 'text', text: words, lifetime: 'stable' } as const
  const parts = [text, ...files.map((one) => ({ type: 'blob' as const, ...one }))]
  const body = frame(encode([{ kind: 'user', seq: 1, parts }], surface), {})
  let answer = ''
  for await (const event of provider.stream(body, new AbortController().signal)) {
    if (event.type === 'text_delta') answer += event.text
    if (event.type === 'error') throw new Error(event.error.message)
  }
  return answer
}

type BlobPart = Extract<Part, { type: 'blob' }>

function file(handle: string, media_type: string, bytes: Buffer): Omit<BlobPart, 'type'> {
  const blob = BlobKey.parse(`${'a'.repeat(64)}.bin`)
  return { blob, media_type, handle, lifetime: 'turn', bytes }
}

const NAMES = { png: 'PNG', jpeg: 'JPEG', gif: 'GIF', webp: 'WebP' } as const

test.skipIf(!canDrawAll)('an image in any of the four formats is described correctly', async () => {
  for (const [seed, format] of DRAWN_FORMATS.entries()) {
    const picture = drawing(100 + seed)
    const bytes = await encodeDrawing(picture, format)
    const answer = await answerTo('What do you see?', file('@img1', `image/${format}`, bytes))
    const { width, height, fields } = picture
    expect(answer).toContain(`@img1 is a ${NAMES[format]} picture, ${width} by ${height} pixels`)
    expect(answer).toContain(`top left ${fields[0]}, top right ${fields[2]}, centre ${fields[4]}`)
    expect(answer).toContain(`bottom left ${fields[6]}, bottom right ${fields[8]}.`)
    for (const [name, share] of picture.shares)
      if (share > 0.25) expect(answer).toMatch(new RegExp(`${name} \\(\\d+ %\\)`))
  }
})

test('documents are counted, and unreadable ones are reported beside the others', async () => {
  const answer = await answerTo(
    'How many pages are there?',
    file('@pdf1', 'application/pdf', buildPdf(['one two three', 'four'])),
    file('@txt2', 'text/plain', Buffer.from('one\ntwo three\n')),
    file('@img3', 'image/png', Buffer.from('89504e470d0a1a0a00', 'hex')),
  )
  expect(answer).toContain('@pdf1 is a PDF document of 2 pages and 4 words.')
  expect(answer).toContain('@txt2 is a text file with 2 lines and 3 words.')
  expect(answer).toContain('@img3 cannot be read: ')
})
