// One measurement of put.bench.ts: `ours` puts every file into a store, `floor` copies, hashes and syncs each.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, join } from 'node:path'
import process from 'node:process'
import { diskPlace } from '../test/support/log/disk-place.ts'
import { value } from '../test/support/log/story.ts'
import { timed } from './figure.ts'
import { peakDuring } from './memory.ts'

const [mode, to = '', ...paths] = process.argv.slice(2)
const { store } = await diskPlace(to)
const one = mode === 'ours' ? putBlob : copyHashed

let ms = 0
const memory = await peakDuring(async () => {
  ms = await timed(async () => {
    for (const path of paths) await one(path)
  })
})
console.log(JSON.stringify({ ms, ...memory }))

async function putBlob(path: string): Promise<void> {
  value(await store.put(piecesOf(path), 'application/octet-stream'))
}

async function copyHashed(path: string): Promise<void> {
  const file = await open(join(to, basename(path)), 'wx')
  const hash = createHash('sha256')
  for await (const piece of piecesOf(path)) {
    hash.update(piece)
    await file.write(piece)
  }
  hash.digest('hex')
  await file.sync()
  await file.close()
}

/** Both use the same stream, so its cost does not affect the comparison. */
function piecesOf(path: string): AsyncIterable<Buffer> {
  return createReadStream(path, { highWaterMark: 64 * 1024 })
}
