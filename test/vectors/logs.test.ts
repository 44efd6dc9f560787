import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { scan } from '../../src/log/scan.ts'
import { SessionId } from '../../src/model/ids.ts'
import { CrashDisk } from '../support/host/crash-disk.ts'
import { overwrite } from '../support/log/raw-log.ts'
import { exampleLogs } from './example-logs.ts'

const read = (name: string) => readFile(new URL(`logs/${name}`, import.meta.url))
const session = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')

test.each(exampleLogs())('the example Log $name is read as the format defines', async (example) => {
  const folder = new CrashDisk(1).folder()
  await overwrite(folder, 'log', await read(`${example.name}.ndjson`))
  const file = await folder.open('log', 'read')
  let lines = 0
  let hash: string | null = null
  const end = await scan(file, { session, strict: true }, (line) => {
    lines += 1
    hash = line.hash
  })
  const result = { good_lines: lines, last_hash: hash, fault: end.fault?.reason, at: end.fault?.offset }
  expect(result).toEqual({
    good_lines: example.good_lines,
    last_hash: example.last_hash,
    fault: example.fault,
    at: example.fault_offset,
  })
})

test('the example Logs in the tree are those that the generator writes', async () => {
  const expected: Record<string, unknown> = {}
  for (const { name, bytes, ...outcome } of exampleLogs()) {
    expect((await read(`${name}.ndjson`)).equals(bytes)).toBe(true)
    expected[name] = outcome
  }
  expect(JSON.parse((await read('expected.json')).toString('utf8'))).toEqual(expected)
})
