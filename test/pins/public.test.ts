import { join } from 'node:path'
import { expect, expectTypeOf, test } from 'vitest'
import * as hawser from '../../src/index.ts'
import type { AttachmentError, ContentBlocks, Part, Result } from '../../src/index.ts'
import { freshFolder } from '../support/host/folder.ts'

test('the names that a program can import are these', () => {
  expect(Object.keys(hawser).toSorted()).toEqual([
    'BLOB_EXTENSIONS',
    'ERROR_KINDS',
    'openWorkspace',
    'resolveAttachmentsToContentBlocks',
  ])
})

// The compiler checks these: `npm run check` fails if the function or its return type changes.
test('resolveAttachmentsToContentBlocks has this signature [AT-046]', () => {
  const { resolveAttachmentsToContentBlocks: resolve } = hawser
  expectTypeOf(resolve).parameters.toEqualTypeOf<
    [
      message: string,
      paths: readonly unknown[],
      options: { readonly workspace: string; readonly signal?: AbortSignal },
    ]
  >()
  expectTypeOf(resolve).returns.toEqualTypeOf<Promise<Result<ContentBlocks>>>()
  expectTypeOf<ContentBlocks>().toEqualTypeOf<{
    readonly contentBlocks: readonly Part[]
    readonly errors: readonly AttachmentError[]
    readonly promptMode: 'string' | 'blocks'
  }>()
  expect([resolve.name, resolve.length]).toEqual(['resolveAttachmentsToContentBlocks', 3])
})

test('the result of resolveAttachmentsToContentBlocks has these fields [AT-046]', async () => {
  const workspace = await freshFolder()
  const resolve = hawser.resolveAttachmentsToContentBlocks
  const paths = [join(workspace, 'missing.png')]
  expect(await resolve('Hello', paths, { workspace })).toEqual({
    ok: true,
    value: {
      contentBlocks: [{ type: 'text', text: expect.any(String) as string, lifetime: 'stable' }],
      errors: [{ name: 'missing.png', code: 'not_found', reason: expect.any(String) as string }],
      promptMode: 'string',
    },
  })
})
