// The server of dialects.bench.ts and attachments.bench.ts: it answers without reading the request, over
// HTTP or a socket. It is a separate process, so that its cost is not part of the measurement. Its arguments are a file
// of answers and the id of a call in them.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import process from 'node:process'
import { WebSocketServer } from 'ws'
import { VendorAnswers } from './vendor-answers.ts'

const [file = '', idOfCall = ''] = process.argv.slice(2)
const answers = Object.entries(VendorAnswers.parse(JSON.parse(readFileSync(file, 'utf8'))))
const asked = new Map<string, number>()
const DATA = 'data: '
let calls = 0

const server = createServer((incoming, response) => {
  const path = incoming.url ?? ''
  let bytes = 0
  incoming.on('data', (piece: Buffer) => (bytes += piece.length))
  incoming.once('end', () => {
    const at_ms = Number(process.hrtime.bigint()) / 1e6
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answerTo(path))
    process.send?.({ path, bytes, at_ms })
  })
})
const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
server.on('upgrade', (request, connection, head) => {
  sockets.handleUpgrade(request, connection, head, (socket) => {
    socket.on('message', () => {
      for (const line of answerTo(request.url ?? '').split('\n'))
        if (line.startsWith(DATA)) socket.send(line.slice(DATA.length))
    })
  })
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
process.once('disconnect', () => process.exit())

/** A path begins with the number of calls before each text answer: `/3/anything/v1/messages`. */
function answerTo(path: string): string {
  const before = asked.get(path) ?? 0
  const isCall = before < Number(path.split('/')[1])
  asked.set(path, isCall ? before + 1 : 0)
  const answer = answers.find(([ending]) => path.endsWith(ending))?.[1]
  if (answer === undefined) throw new Error(`no dialect at ${path}`)
  if (!isCall) return answer.words
  calls += 1
  return answer.call.replaceAll(idOfCall, String(calls).padStart(idOfCall.length, '0'))
}
