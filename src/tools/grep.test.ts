import { link } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { value } from '../../test/support/log/story.ts'
import { toolWorld, type WorldOptions } from '../../test/support/skills/tool-world.ts'
import { ok } from '../model/errors.ts'
import { grep } from './grep.ts'

const files = {
  '.gitignore': 'build\nsecret.ts\n',
  'b.ts': 'one\ntwo rope\nthree\nfour\nfive\nsix rope\n',
  'a.md': 'Rope and -rope\n',
  'secret.ts': 'rope\n',
  'src/c.ts': 'no\nrope',
  'build/d.ts': 'rope\n',
  '.hidden/e.ts': 'rope\n',
  '.hawser/f.ts': 'rope\n',
  'binary.ts': Buffer.from('rope\0rope'),
}

async function grepping(args: object, options: WorldOptions = { files }) {
  const { context, close } = await toolWorld(options)
  const outcome = await value(grep.parse(JSON.stringify(args))).run(context)
  await close()
  return outcome
}

test('lines are found and shown by file, sorted, without ignored, hidden or binary files', async () => {
  expect((await grepping({ pattern: 'rope' })).output).toBe(
    'a.md\n1:Rope and -rope\n\nb.ts\n2:two rope\n6:six rope\n\nsrc/c.ts\n2:rope\n[4 matches in 3 files.]\n',
  )
})

test('a glob narrows the files and includes nothing that is ignored', async () => {
  expect((await grepping({ pattern: 'rope', glob: '*.ts' })).output).toBe(
    'b.ts\n2:two rope\n6:six rope\n\nsrc/c.ts\n2:rope\n[3 matches in 2 files.]\n',
  )
  expect((await grepping({ pattern: 'rope', glob: 'src/**' })).output).toMatch(/^src\/c\.ts\n/)
})

test('lines around a match are marked as such, and gaps are shown', async () => {
  expect((await grepping({ pattern: 'rope', path: 'b.ts', context: 1 })).output).toBe(
    'b.ts\n1-one\n2:two rope\n3-three\n--\n5-five\n6:six rope\n[2 matches in 1 file.]\n',
  )
})

test('the search is case-sensitive unless requested otherwise', async () => {
  expect((await grepping({ pattern: 'ROPE' })).output).toMatch(/^\[No matches\./)
  expect((await grepping({ pattern: 'ROPE', ignore_case: true })).output).toContain('4 matches')
})

test('a pattern is never mistaken for an option', async () => {
  expect((await grepping({ pattern: '-rope' })).output).toBe(
    'a.md\n1:Rope and -rope\n[1 match in 1 file.]\n',
  )
  expect((await grepping({ pattern: '--files' })).output).toMatch(/^\[No matches\./)
  expect((await grepping({ pattern: '--pre=id' })).output).toMatch(/^\[No matches\./)
})

test('an invalid pattern is refused with the reason', async () => {
  const { error } = await grepping({ pattern: '(' })
  expect(error?.kind).toBe('invalid_args')
  expect(error?.message).toContain('unclosed group')
  expect((await grepping({ pattern: 'a\nb' })).error?.kind).toBe('invalid_args')
})

test('long lines and long results are cut, and the total is counted', async () => {
  const many = { x: `${'rope '.repeat(1_000)}\n${'rope\n'.repeat(3_000)}` }
  const { output, truncated } = await grepping(
    { pattern: 'rope' },
    { files: many, outputBytes: 3_000 },
  )
  expect(truncated).toBe(true)
  expect(Buffer.byteLength(output)).toBeLessThanOrEqual(3_000)
  expect(output).toMatch(/^x\n1:(rope )+…\n2:rope\n/)
  expect(output).toMatch(/\[The first of 3,001 matches in 1 file; narrow/)
})

test('a file that read would refuse is not shown', async () => {
  const { workspace, context, close } = await toolWorld({ files: { x: 'rope', y: 'rope' } })
  await link(join(workspace, 'x'), join(workspace, 'second'))
  const { output } = await value(grep.parse('{"pattern":"rope"}')).run(context)
  expect(output).toBe(
    'y\n1:rope\n[1 match in 1 file. 2 files not shown, because read refuses them.]\n',
  )
  await close()
})

test('a search that cannot run reports why', async () => {
  const exit = {
    code: null,
    signal: null,
    timedOut: false,
    wasInterrupted: false,
    durationMs: 1,
    appearedPaths: [],
    runsLater: [],
  }
  for (const [end, kind] of [
    [{ code: 127 }, 'not_configured'],
    [{ timedOut: true }, 'timeout'],
    [{ wasInterrupted: true }, 'interrupted'],
    [{ code: 137 }, 'internal'],
  ] as const) {
    const run = async () => ok({ ...exit, ...end })
    expect((await grepping({ pattern: 'x' }, { run })).error?.kind).toBe(kind)
  }
})
