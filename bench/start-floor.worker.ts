// The least that a program in Node can do where `hawser run` begins a Session and calls its model for the first time: the same
// folders, a surface, a Log with its first Events, and the same number of syncs. Its arguments are a folder and that number.
import { createHash } from 'node:crypto'
import {
  closeSync,
  fdatasyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

const [folder = '.', syncs = '0'] = process.argv.slice(2)
const own = join(folder, `.floor-${process.pid}`)
mkdirSync(join(own, 'sessions'), { recursive: true })
mkdirSync(join(own, 'blobs'))
const surface = Buffer.from(JSON.stringify({ text: readFileSync(process.argv[1] ?? '', 'utf8') }))
const key = createHash('sha256').update(surface).digest('hex')
const blob = openSync(join(own, 'blobs', '.tmp'), 'wx', 0o600)
writeSync(blob, surface)
closeSync(blob)
renameSync(join(own, 'blobs', '.tmp'), join(own, 'blobs', `${key}.json`))
const log = openSync(join(own, 'sessions', 'log.ndjson'), 'ax', 0o600)
for (let at = 0; at < Number(syncs); at += 1) {
  writeSync(log, `${JSON.stringify({ seq: at, type: 'event', data: { key } })}\n`)
  fdatasyncSync(log)
}
const body = Buffer.concat([surface, Buffer.from(JSON.stringify({ text: 'What?' }))])
const sha256 = createHash('sha256').update(body).digest('hex')
process.stdout.write(`${JSON.stringify({ type: 'provider_request', sha256 })}\n`)
