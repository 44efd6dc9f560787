// The minimum that a Node program does when `hawser run` starts a Session and calls its model for the first time: the same
// folders, files, renames and syncs, and a similar request. Its arguments are a folder and, if a request is sent,
// a URL and the number of bytes to send.
import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

const [folder = '.', url, length] = process.argv.slice(2)
const home = join(folder, '.floor-home')
const own = join(folder, '.floor')
const folders = [home, join(home, 'heads'), own, join(own, 'sessions'), join(own, 'blobs')]
for (const each of folders) {
  if (!existsSync(each)) mkdirSync(each, { mode: 0o700 })
  syncFolder(join(each, '..'))
}
const surface = Buffer.from(JSON.stringify({ text: readFileSync(process.argv[1] ?? '', 'utf8') }))
const key = createHash('sha256').update(surface).digest('hex')
replace(join(own, 'blobs'), `${key}.json`, surface)

const session = `session-${process.pid}`
const lease = openSync(join(own, 'sessions', `${session}.lease`), 'a', 0o600)
writeSync(lease, JSON.stringify({ pid: process.pid }))
const log = openSync(join(own, 'sessions', `${session}.ndjson`), 'ax', 0o600)
replace(join(home, 'heads'), session, Buffer.from(JSON.stringify({ seq: -1 })))
append({ type: 'session_started' }, { type: 'prompt_surface', key })
syncFolder(join(own, 'sessions'))
replace(join(home, 'heads'), session, Buffer.from(JSON.stringify({ seq: 1 })))
append({ type: 'turn_started' }, { type: 'user_message', text: 'What?' }, { type: 'late_context' })
const body = Buffer.concat([surface, Buffer.from(JSON.stringify({ text: 'What?' }))])
const sha256 = createHash('sha256').update(body).digest('hex')
append({ type: 'provider_request', sha256 })
process.stdout.write(`${JSON.stringify({ type: 'provider_request', sha256 })}\n`)
if (url !== undefined) await post(url, Buffer.concat([body], Number(length)))

async function post(to: string, bodyBytes: Buffer): Promise<void> {
  const { request } = await import('node:http')
  const headers = { 'content-type': 'application/json', 'content-length': bodyBytes.length }
  await new Promise((resolve) => {
    const sent = request(to, { method: 'POST', headers, agent: false }, (answer) => {
      answer.resume().once('end', resolve)
    })
    sent.end(bodyBytes)
  })
}

function append(...events: readonly object[]): void {
  writeSync(log, events.map((event) => `${JSON.stringify(event)}\n`).join(''))
  fdatasyncSync(log)
}

function replace(into: string, name: string, bytes: Buffer): void {
  const temporary = join(into, `.tmp-${process.pid}`)
  const file = openSync(temporary, 'wx', 0o600)
  writeSync(file, bytes)
  fsyncSync(file)
  closeSync(file)
  renameSync(temporary, join(into, name))
  syncFolder(into)
}

function syncFolder(path: string): void {
  const opened = openSync(path, 'r')
  fsyncSync(opened)
  closeSync(opened)
}
