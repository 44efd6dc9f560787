import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { value } from '../../test/support/log/story.ts'
import { toolWorld, type WorldOptions } from '../../test/support/skills/tool-world.ts'
import { read } from './read.ts'

async function reading(args: object, options: WorldOptions) {
  const { context, close } = await toolWorld(options)
  const outcome = await value(read.parse(JSON.stringify(args))).run(context)
  await close()
  return outcome
}

test('the requested lines are shown with their numbers', async () => {
  const files = { 'a.txt': 'one\ntwo\n\nfour' }
  expect(await reading({ path: 'a.txt' }, { files })).toEqual({
    outcome: 'ok',
    output: '1\tone\n2\ttwo\n3\t\n4\tfour\n',
  })
  expect((await reading({ path: 'a.txt', from_line: 3 }, { files })).output).toBe('3\t\n4\tfour\n')
  expect((await reading({ path: 'a.txt', from_line: 2, to_line: 2 }, { files })).output).toBe(
    '2\ttwo\n[Lines 2 to 2 of 4.]\n',
  )
  expect((await reading({ path: 'a.txt', to_line: 99 }, { files })).output).toMatch(/four\n$/)
})

test('a range outside the file is refused with the number of lines', async () => {
  const files = { 'a.txt': 'one\ntwo\n' }
  for (const span of [{ from_line: 3 }, { from_line: 2, to_line: 1 }]) {
    expect(await reading({ path: 'a.txt', ...span }, { files })).toMatchObject({
      outcome: 'failed',
      error: { kind: 'invalid_args', details: { lines: 2 } },
    })
  }
})

test('long content is cut at a line, and the last line says how to continue', async () => {
  const files = { 'a.txt': Array.from({ length: 500 }, (_, i) => `line ${i + 1}`).join('\n') }
  let [from, seen] = [1, 0]
  for (let more = true; more;) {
    const outcome = await reading({ path: 'a.txt', from_line: from }, { files, outputBytes: 2_000 })
    seen += outcome.output.match(/\tline \d+$/gm)?.length ?? 0
    const next = /continue with from_line (\d+)\.\]\n$/.exec(outcome.output)
    expect(outcome.truncated === true).toBe(next !== null)
    more = next !== null
    from = Number(next?.[1])
  }
  expect(seen).toBe(500)
})

test('a line longer than the limit is shown in part, without half a character', async () => {
  const files = { 'a.txt': `${'ü'.repeat(5_000)}\nnext` }
  const { output, truncated } = await reading({ path: 'a.txt' }, { files, outputBytes: 2_001 })
  expect(output).toMatch(
    /^1\tü+\n\[Line 1 is too long to show in full\.\]\n\[Lines 1 to 1 of 2; continue with from_line 2\.\]\n$/,
  )
  expect(truncated).toBe(true)
})

test('an empty file, an empty folder and a folder are reported as such', async () => {
  const { workspace, context, close } = await toolWorld({ files: { empty: '', 'd/x\ny': '' } })
  await mkdir(join(workspace, 'd/sub'))
  await mkdir(join(workspace, 'bare'))
  await symlink('x', join(workspace, 'd/to'))
  const output = async (path: string) =>
    (await value(read.parse(JSON.stringify({ path }))).run(context)).output
  expect(await output('empty')).toBe('[empty is empty]\n')
  expect(await output('bare')).toBe('[bare is an empty folder]\n')
  expect(await output('d')).toBe(`sub/\nto@\n${String.raw`x\u{a}y`}\n`)
  await close()
})

test('what is not text is refused with its type', async () => {
  const files = {
    'a.png': Buffer.from(`\x89PNG\r\n\x1a\n${'x'.repeat(12_337)}`, 'latin1'),
    'a.txt': 'text and\0more',
  }
  const picture = await reading({ path: 'a.png' }, { files })
  expect([picture.error?.kind, picture.error?.details?.['code']]).toEqual([
    'attachments_failed',
    'corrupt',
  ])
  expect((await reading({ path: 'a.txt' }, { files })).output).toContain('binary data of 13 bytes')
})

test('line ends, invalid bytes and a byte order mark are reported, not shown', async () => {
  const files = {
    dos: '\uFEFFone\r\ntwo\r\n',
    mixed: 'one\r\ntwo\n',
    old: Buffer.from('caf\xe9\n', 'latin1'),
  }
  expect((await reading({ path: 'dos' }, { files })).output).toBe(
    '1\tone\n2\ttwo\n[All lines end in CRLF.]\n',
  )
  expect((await reading({ path: 'mixed' }, { files })).output).toContain(
    '[Some lines end in CRLF.]',
  )
  expect((await reading({ path: 'old' }, { files })).output).toBe(
    '1\tcaf\uFFFD\n[Bytes that are not UTF-8 are shown as \uFFFD.]\n',
  )
})

test('the first part of a file that is too large can be read, with a note', async () => {
  const files = { log: `${'x'.repeat(99)}\n`.repeat(110_000) }
  const { output, truncated } = await reading({ path: 'log', to_line: 1 }, { files })
  expect(output).toMatch(/Only the first 10,485,760 of 11,000,000 bytes can be read by line/)
  expect(truncated).toBe(true)
})
