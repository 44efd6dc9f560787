import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { diskFolder } from '../files/disk.ts'
import { serverLog } from './server-log.ts'

const clock = { now: () => Date.parse('2026-01-31T12:00:00.000Z') }

async function opened(mostBytes?: number) {
  const path = await freshFolder()
  const folder = await diskFolder(path)
  onTestFinished(() => folder.close())
  const redact = (line: string) => line.replaceAll('secret', '[redacted key]')
  const open = () => serverLog(folder, clock, redact, mostBytes)
  return { open, logs: join(path, 'logs') }
}

test('each entry is a line of JSON with its time, in order, without keys', async () => {
  const { open, logs } = await opened()
  const log = await open()
  log.write({ event: 'first', path: '/secret' })
  log.write({ event: 'second' })
  await log.close()
  const again = await open()
  again.write({ event: 'third' })
  await again.close()
  again.write({ event: 'too late' })
  const ts = '2026-01-31T12:00:00.000Z'
  const lines = (await readFile(join(logs, 'server.ndjson'), 'utf8')).trimEnd().split('\n')
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
    { ts, event: 'first', path: '/[redacted key]' },
    { ts, event: 'second' },
    { ts, event: 'third' },
  ])
})

test('the log does not grow without limit', async () => {
  const { open, logs } = await opened(500)
  for (let i = 0; i < 30; i++) {
    const log = await open()
    log.write({ event: 'x'.repeat(50) })
    await log.close()
  }
  const names = (await readdir(logs)).toSorted()
  const sizes = await Promise.all(
    names.map(async (name) => (await readFile(join(logs, name))).length),
  )
  expect(names).toEqual(['server.ndjson', 'server.old.ndjson'])
  expect(Math.max(...sizes)).toBeLessThanOrEqual(500)
})
