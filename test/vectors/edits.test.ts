import { readFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { expect, test } from 'vitest'
import { edit } from '../../src/tools/edit.ts'
import { toolWorld } from '../support/skills/tool-world.ts'

/** Arguments of one call of edit on the file `x`, and the result. */
const Vectors = z.array(
  z.strictObject({
    title: z.string(),
    before: z.string(),
    args: z.record(z.string(), z.unknown()),
    /** One of the two: the content after a successful call, or the error of a refused one. */
    after: z.string().optional(),
    error: z
      .strictObject({ kind: z.string(), details: z.record(z.string(), z.unknown()).optional() })
      .optional(),
  }),
)

const file = new URL('edits.json', import.meta.url)
const vectors = Vectors.parse(JSON.parse(readFileSync(file, 'utf8')))

test.each(vectors)('$title', async ({ before, args, after, error }) => {
  const { workspace, context, blobs, close } = await toolWorld({ files: { x: before } })
  const call = edit.parse(JSON.stringify({ path: 'x', ...args }))
  const outcome = call.ok ? await call.value.run(context) : call
  expect(outcome.error?.kind).toBe(error?.kind)
  if (error?.details !== undefined) expect(outcome.error?.details).toEqual(error.details)
  expect(await readFile(join(workspace, 'x'), 'utf8')).toBe(after ?? before)
  expect(blobs.size > 0).toBe(after !== undefined)
  await close()
})
