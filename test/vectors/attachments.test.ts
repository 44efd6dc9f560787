import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { sha256 } from '../../src/encoding/hash.ts'
import { AttachmentError, type AttachmentInput } from '../../src/model/attachment.ts'
import { resolveAttachments } from '../../src/resources/resolve-attachments.ts'
import { freshFolder } from '../support/host/folder.ts'
import { value } from '../support/log/story.ts'
import { virtualClock } from '../support/host/virtual-clock.ts'

/** Files and the expected result: the part of a descriptor that depends on their content, or the whole error. */
const Example = z.strictObject({
  what: z.string(),
  name: z.string(),
  base64: z.string(),
  taken: z.looseObject({ kind: z.string(), media_type: z.string() }).optional(),
  refused: AttachmentError.optional(),
})

const EXAMPLES = z
  .array(Example)
  .parse(JSON.parse(await readFile(new URL('attachments.json', import.meta.url), 'utf8')))

test('[AT-002] [AT-004] [AT-023] [AT-053] each example has the expected result, whatever the source of its bytes', async () => {
  const folder = await freshFolder()
  const results = []
  for (const { what, name, base64 } of EXAMPLES) {
    const [bytes, path] = [Buffer.from(base64, 'base64'), join(folder, name)]
    // Some of these names are not possible for files.
    await writeFile(path, bytes).catch(() => {})
    const one = await judged({ from: 'path', path })
    results.push({ what, ...one })
    // Each opens in a separate thread, which takes time.
    if (name.endsWith('.pdf')) continue
    expect(await judged({ from: 'bytes', name, bytes }), what).toEqual(one)
    const uri = `file://${path.split('/').map(encodeURIComponent).join('/')}`
    expect(await judged({ from: 'link', uri }), what).toEqual(one)
  }
  expect(results).toEqual(EXAMPLES.map(expected))
})

/** A fixed clock, so that a busy machine changes nothing. */
async function judged(input: AttachmentInput) {
  const [resolved] = value(await resolveAttachments([input], { clock: virtualClock() }))
  if (resolved?.ok !== true) return { refused: resolved?.error }
  const { source_uri_scheme: _, ...facts } = resolved.facts
  return { taken: Object.fromEntries(Object.entries(facts).filter(([key]) => key !== 'blob')) }
}

test('every error code for content and name has an example', () => {
  const codes = new Set(EXAMPLES.flatMap(({ refused }) => refused?.code ?? []))
  expect([...codes].toSorted()).toEqual([
    'corrupt',
    'empty',
    'encrypted',
    'invalid_name',
    'too_many_pixels',
    'type_mismatch',
    'unsupported_type',
  ])
})

function expected({ what, name, base64, taken, refused }: z.infer<typeof Example>) {
  if (taken === undefined) return { what, refused }
  const bytes = Buffer.from(base64, 'base64')
  return { what, taken: { ...taken, name, size_bytes: bytes.length, content_sha256: sha256(bytes) } }
}
