// A Turn in plain Node: sends the whole conversation, does the call of the answer, repeats until the answer has none. Writes
// the call and its result to a file with a sync each. Nothing is checked, limited, confined or verified.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { Agent, request } from 'node:http'
import process from 'node:process'

const [url = '', logPath = '', resumes = 'false'] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const pieces: Buffer[] = [resumes === 'true' ? readFileSync(logPath) : Buffer.alloc(4_096, 'x')]
const log = openSync(logPath, resumes === 'true' ? 'a' : 'w')

for (;;) {
  const answer = await send(Buffer.concat(pieces))
  record(Buffer.from(answer))
  if (!answer.includes('"tool_use"')) break
  record(answer.includes('"bash"') ? await shell('echo hi') : readFileSync('notes.txt'))
}
closeSync(log)
agent.destroy()

function record(bytes: Buffer): void {
  const line = Buffer.from(`${JSON.stringify({ text: bytes.toString('utf8').slice(0, 300) })}\n`)
  pieces.push(line)
  writeSync(log, line)
  fdatasyncSync(log)
}

function send(body: Buffer): Promise<string> {
  const headers = { 'content-type': 'application/json', 'content-length': body.length }
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      answer.once('end', () => resolve(text)).once('error', reject)
    })
    sent.once('error', reject).end(body)
  })
}

async function shell(command: string): Promise<Buffer> {
  const child = spawn('/bin/bash', ['-c', command], { stdio: ['ignore', 'pipe', 'ignore'] })
  const printed: Buffer[] = []
  child.stdout.on('data', (piece: Buffer) => printed.push(piece))
  await once(child, 'close')
  return Buffer.concat(printed)
}
