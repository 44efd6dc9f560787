import { expect, test } from 'vitest'
import { value } from '../../test/support/log/story.ts'
import { toolWorld } from '../../test/support/skills/tool-world.ts'
import { glob } from './glob.ts'

const files = {
  '.gitignore': 'build\nsecret.ts\n',
  'b.ts': '',
  'a.ts': '',
  'B.ts': '',
  'secret.ts': '',
  'src/deep/c.ts': '',
  'src/c.md': '',
  'src/new\nline.ts': '',
  'build/d.ts': '',
  '.hidden/e.ts': '',
  '.hawser/f.ts': '',
}

async function globbing(args: object): Promise<string> {
  const { context, close } = await toolWorld({ files })
  const { output } = await value(glob.parse(JSON.stringify(args))).run(context)
  await close()
  return output
}

test('files are found by pattern, in a stable order, without ignored or hidden ones', async () => {
  const all = ['B.ts', 'a.ts', 'b.ts', 'src/deep/c.ts', String.raw`src/new\u{a}line.ts`]
  for (const pattern of ['*.ts', '**/*.ts', '**/*.t[s]']) {
    expect(await globbing({ pattern })).toBe(`${all.join('\n')}\n`)
  }
  expect(await globbing({ pattern: 'src/*' })).toBe(`src/c.md\n${all.at(-1)}\n`)
  expect(await globbing({ pattern: '**/*', path: 'src/deep' })).toBe('src/deep/c.ts\n')
  expect(await globbing({ pattern: '*.ts', path: '.hidden' })).toBe('.hidden/e.ts\n')
})

test('a pattern is relative to the searched folder', async () => {
  expect(await globbing({ pattern: 'deep/*.ts', path: 'src' })).toBe('src/deep/c.ts\n')
  expect(await globbing({ pattern: 'src/*.md', path: 'src' })).toMatch(/^\[No files found\./)
})

test('an empty result names what was not searched', async () => {
  for (const pattern of ['*.rs', '.hidden/*', 'secret.ts', '.hawser/**', 'build/**']) {
    expect(await globbing({ pattern })).toBe(
      '[No files found. Hidden files and files that .gitignore excludes are skipped.]\n',
    )
  }
})
