import { readFile } from 'node:fs/promises'
import { eventsOf, harnessClient, valueOf } from './harness-client.ts'

/** Uploads a file, runs a Turn that writes another one, allows that, and reads back what happened. */
const [, , origin = '', tokenFile = '', folder = '', file = ''] = process.argv
const client = harnessClient(origin, (await readFile(tokenFile, 'utf8')).trim())

const created = valueOf(
  await client.POST('/api/harness/session/create', {
    body: { projectRoot: folder, permissionMode: 'ask' },
  }),
)
const { sessionId } = created.session

const uploaded = valueOf(
  await client.PUT('/api/harness/attachments', {
    params: { query: { name: 'notes.txt' } },
    headers: { 'content-type': 'application/octet-stream' },
    body: await readFile(file),
    bodySerializer: (bytes) => bytes as Buffer,
  }),
)
const { verdicts } = valueOf(
  await client.POST('/api/harness/attachments/check', { body: { paths: [uploaded.path] } }),
)

const turn = await client.POST('/api/harness/turn', {
  body: {
    sessionId,
    message: 'Write "berths" to copy.txt',
    attachments: [uploaded.path],
    opts: { whenBusy: 'refuse', onDisconnect: 'interrupt' },
  },
  parseAs: 'stream',
})
let attached: string[] = []
let answer = ''
let exitCode: number | undefined
for await (const { event, data } of eventsOf(turn)) {
  if (event === 'attachments:resolved') attached = data.resources.map(({ name }) => name)
  if (event === 'chat:complete') answer = data.text
  if (event === 'process:exit') exitCode = data.exitCode
  if (event !== 'permission:request') continue
  const { requestId, options } = data
  const once = options.find(({ decision, scope }) => decision === 'allowed' && scope === 'once')
  valueOf(
    await client.POST('/api/harness/permission', {
      body: {
        requestId,
        ...(once === undefined ? { decision: 'denied' } : { choice: once.number }),
      },
    }),
  )
}

const path = { id: sessionId }
const { session } = valueOf(await client.GET('/api/harness/session/{id}', { params: { path } }))
const watching = new AbortController()
const events = await client.GET('/api/harness/session/{id}/events', {
  params: { path, query: { after_seq: '-1' } },
  parseAs: 'stream',
  signal: watching.signal,
})
const ids: number[] = []
for await (const { event, id } of eventsOf(events)) {
  if (id !== undefined) ids.push(id)
  if (event === 'process:exit') break
}
watching.abort()

const { turns } = session
console.log(JSON.stringify({ verdicts, attached, answer, exitCode, turns, events: ids.length }))
