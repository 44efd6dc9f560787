import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { value } from '../../../test/support/log/story.ts'
import { createExport } from './export-file.ts'

test('the export is written, private to its owner, and counted in bytes', async () => {
  const path = join(await freshFolder(), 'a.md')
  const file = value(await createExport(path))
  value(await file.write('Grüße, '))
  value(await file.write('Hafen\n'))
  expect(value(await file.finish())).toBe(15)
  expect(await readFile(path, 'utf8')).toBe('Grüße, Hafen\n')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('a discarded export is removed', async () => {
  const folder = await freshFolder()
  const file = value(await createExport(join(folder, 'a.md')))
  value(await file.write('half'))
  await file.discard()
  expect(await readdir(folder)).toEqual([])
})

test('an existing file is not overwritten', async () => {
  const path = join(await freshFolder(), 'a.md')
  await writeFile(path, 'before')
  expect(await createExport(path)).toMatchObject({ ok: false, error: { kind: 'invalid_args' } })
  expect(await readFile(path, 'utf8')).toBe('before')
})

test('a missing folder and an invalid name are refused', async () => {
  const folder = await freshFolder()
  await writeFile(join(folder, 'file'), '')
  const kinds = { 'no/a.md': 'not_found', 'file/a.md': 'not_regular_file', 'new/': 'invalid_args' }
  for (const [name, kind] of Object.entries(kinds)) {
    expect(await createExport(`${folder}/${name}`)).toMatchObject({ ok: false, error: { kind } })
  }
  expect(await createExport('/')).toMatchObject({ ok: false, error: { kind: 'invalid_args' } })
  expect(await readdir(folder)).toEqual(['file'])
})
