// The model of the comparison: answers every contestant at once, by the path of its request, and reports when each request had
// arrived and when its answer was written. A separate process, so that its work is not part of a measurement.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import process from 'node:process'
import { ModelAnswers } from './model-answers.ts'

const [file = ''] = process.argv.slice(2)
const { call_id, answers } = ModelAnswers.parse(JSON.parse(readFileSync(file, 'utf8')))
const asked = new Map<string, number>()
let calls = 0

const server = createServer((incoming, response) => {
  // A path is /NAME/KIND-COUNT-MS/ID/…: COUNT calls of this kind, then text, each after that many milliseconds.
  const [, name = '', scenario = '', id = '', ...rest] = (incoming.url ?? '')
    .replace(/\?.*/, '')
    .split('/')
  incoming.resume().once('end', () => {
    const arrived_ms = now()
    const answer = incoming.method === 'POST' ? answers[name] : undefined
    const isModelCall = answer !== undefined && rest.join('/').endsWith(answer.path)
    if (!isModelCall) return void response.writeHead(404).end()
    const [kind = '', count = '', ms = ''] = scenario.split('-')
    const before = asked.get(id) ?? 0
    const bytes = before < Number(count) ? callOf(answer.calls[kind] ?? '') : answer.text
    asked.set(id, before + 1)
    const send = () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(bytes, () => {
        process.send?.({ id, arrived_ms, answered_ms: now() })
      })
    }
    if (Number(ms) === 0) send()
    else setTimeout(send, Number(ms))
  })
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
process.once('disconnect', () => process.exit())

/** Ids of calls have one length, so that requests of the same number of calls do too. */
function callOf(answer: string): string {
  calls += 1
  return answer.replaceAll(call_id, String(calls).padStart(call_id.length, '0'))
}

/** The clock of `process.hrtime`, which all processes share. */
function now(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
