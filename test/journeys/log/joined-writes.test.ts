import { asFilePlace } from '../../support/log/file-place.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FileFailure, type File, type Folder } from '../../../src/host/files/files.ts'
import { ok } from '../../../src/model/errors.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { rehearsalProvider } from '../../../src/providers/rehearsal/stream.ts'
import { Harness } from '../../../src/session/harness.ts'
import type { WatcherUpdate } from '../../../src/session/watch/subscribe.ts'
import type { Session } from '../../../src/session/session.ts'
import type { Tool } from '../../../src/tools/tool.ts'
import { withChanges, withClock } from '../../support/session/harness-parts.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { value } from '../../support/log/story.ts'
import { virtualClock } from '../../support/host/virtual-clock.ts'

/** Where the time does not advance; `steps` lists writes, syncs, runs of tools and requests in their order. A write with `full` fails once. */
async function place({ full }: { readonly full?: string } = {}) {
  const { workspace, parts } = await harnessPlace()
  for (const name of ['a.txt', 'b.txt']) await writeFile(join(workspace, name), 'rope\n')
  const steps: string[] = []
  const provider = rehearsalProvider({ chunk: 64, delayMs: 0 })
  const noted = withChanges(withClock(parts, virtualClock()), {
    tools: {
      toolset: async () =>
        new Map([...(await parts.tools.toolset())].map(([name, tool]) => [name, ran(tool, steps)])),
    },
    model: {
      providerOf: async () =>
        ok({
          ...provider,
          stream: (body, signal) => {
            steps.push('send')
            return provider.stream(body, signal)
          },
        }),
    },
  })
  const logs = asFilePlace(noted.log.place)
  const sessions = notedFolder(logs.folders.sessions, steps, full)
  const harness = new Harness(withChanges(noted, { log: { place: logs.with({ sessions }) } }))
  const session = value(
    await harness.create({ provider: 'x', model: 'rehearsal', permissionMode: 'auto' }),
  )
  return { harness, session, steps }
}

function ran(tool: Tool, steps: string[]): Tool {
  return {
    ...tool,
    parse: (text) => {
      const parsed = tool.parse(text)
      if (!parsed.ok) return parsed
      const call = parsed.value
      return ok({
        ...call,
        run: async (context) => {
          const outcome = await call.run(context)
          steps.push(tool.name)
          return outcome
        },
      })
    },
  }
}

function notedFolder(folder: Folder, steps: string[], full?: string): Folder {
  let isFull = full !== undefined
  const failsOnce = (types: string) => {
    if (!isFull || !types.includes(full ?? '')) return
    isFull = false
    throw new FileFailure('ENOSPC', 'The disk is full.')
  }
  return {
    label: folder.label,
    folder: (name, mode) => folder.folder(name, mode),
    open: async (name, mode) => {
      const file = await folder.open(name, mode)
      if (name.endsWith('.ndjson')) return notedFile(file, steps, failsOnce)
      return { ...methodsOf(file), sync: () => notedSync(file, steps) }
    },
    rename: (from, to) => folder.rename(from, to),
    remove: (name) => folder.remove(name),
    names: () => folder.names(),
    sync: () => {
      steps.push('sync the folder')
      return folder.sync()
    },
    watch: (name, changed) => folder.watch(name, changed),
    close: () => folder.close(),
  }
}

function notedSync(file: File, steps: string[]): Promise<void> {
  steps.push('sync another file')
  return file.sync()
}

function methodsOf(file: File): File {
  return {
    stat: () => file.stat(),
    hasName: () => file.hasName(),
    read: (into, position) => file.read(into, position),
    write: (bytes) => file.write(bytes),
    writeAt: (bytes, position) => file.writeAt(bytes, position),
    truncate: (size) => file.truncate(size),
    datasync: () => file.datasync(),
    sync: () => file.sync(),
    touch: () => file.touch(),
    tryLock: () => file.tryLock(),
    close: () => file.close(),
  }
}

function notedFile(file: File, steps: string[], failsOnce: (types: string) => void): File {
  return {
    ...methodsOf(file),
    write: async (bytes) => {
      const types = Buffer.from(bytes)
        .toString('utf8')
        .matchAll(/"type":"(\w+)","data"/g)
      const text = [...types].map(([, type]) => type).join(' ')
      failsOnce(text)
      steps.push(`write ${text}`)
      return file.write(bytes)
    },
    datasync: async () => {
      await file.datasync()
      steps.push('sync')
    },
  }
}

async function say(session: Session, text: string): Promise<void> {
  value(await value(await session.admit(text)).done)
}

/** The steps from the first answer with a call to the next request. */
function roundTrip(steps: readonly string[]): readonly string[] {
  const first = steps.findIndex((step) => step.includes('tool_call'))
  return steps.slice(first, steps.indexOf('send', first) + 1)
}

async function proven(harness: Harness, session: Session): Promise<void> {
  const { log, requests } = value(await harness.verify(session.id, { requests: true }))
  expect([log.damage, requests?.mismatches]).toEqual([undefined, []])
}

test('the result of a read-only call and the next request are one write and one sync', async () => {
  const { harness, session, steps } = await place()
  await say(session, 'Read a.txt')
  expect(roundTrip(steps)).toEqual([
    'write assistant_message tool_call provider_usage',
    'sync',
    'read',
    'write tool_result provider_request',
    'sync',
    'send',
  ])
  await proven(harness, session)
})

test('so are the results of several read-only calls', async () => {
  const { harness, session, steps } = await place()
  await say(session, 'Read a.txt and b.txt')
  expect(roundTrip(steps).slice(2)).toEqual([
    'read',
    'read',
    'write tool_result tool_result provider_request',
    'sync',
    'send',
  ])
  await proven(harness, session)
})

test('the result of a call with effects is durable before the next request is recorded', async () => {
  const { harness, session, steps } = await place()
  await say(session, 'Write "hull" to c.txt')
  expect(roundTrip(steps).slice(2)).toEqual([
    'write permission_decision',
    'sync',
    'write',
    'write tool_result',
    'sync',
    'write provider_request',
    'sync',
    'send',
  ])
  await proven(harness, session)
})

test('a call with effects does not run before the results of earlier calls are durable', async () => {
  const { harness, session, steps } = await place()
  await say(session, 'Read a.txt and write "hull" to c.txt and read b.txt')
  expect(roundTrip(steps).slice(2)).toEqual([
    'read',
    'write tool_result permission_decision',
    'sync',
    'write',
    'write tool_result',
    'sync',
    'read',
    'write tool_result provider_request',
    'sync',
    'send',
  ])
  await proven(harness, session)
})

/** The steps from the last request of the first Turn to the first write of the next one. */
function endOfFirst(steps: readonly string[]): readonly string[] {
  const next = steps.findLastIndex((step) => step.includes('turn_started'))
  return steps.slice(steps.slice(0, next).lastIndexOf('send') + 1, next)
}

test('the last answer and the end of its Turn are one write, and the index waits for no sync', async () => {
  const { harness, session, steps } = await place()
  await say(session, 'Read a.txt')
  await say(session, 'What happened?')
  expect(endOfFirst(steps)).toEqual([
    'write assistant_message provider_usage turn_ended',
    'sync',
    // Of the next writer, when it takes the lock.
    'sync',
    'sync the folder',
  ])
  await proven(harness, session)
})

test('a last answer that cannot be recorded ends its Turn with that error, and nothing is lost silently', async () => {
  const { harness, session, steps } = await place({ full: 'provider_usage turn_ended' })
  const ended = value(await value(await session.admit('What happened?')).done)
  expect(ended).toMatchObject({ status: 'failed', error: { kind: 'storage_failed' } })
  expect(steps.filter((step) => step.includes('turn_ended'))).toEqual(['write turn_ended'])
  await proven(harness, session)
})

test('what a person typed while the last answer arrived is one write with that answer', async () => {
  const { harness, session, steps } = await place()
  const { done } = value(await session.admit('What happened?'))
  expect(session.steer('And then?')).toBe(true)
  value(await done)
  const answers = steps.filter((step) => step.includes('assistant_message'))
  expect(answers).toEqual([
    'write assistant_message provider_usage user_message',
    'write assistant_message provider_usage turn_ended',
  ])
  await proven(harness, session)
})

test('watchers receive a result when it is durable, and with it the request', async () => {
  const { session, steps } = await place()
  const seen: string[] = []
  const watching = (async () => {
    for await (const one of session.subscribe()) {
      const event = eventOf(one)
      if (event?.type === 'tool_result') seen.push(steps.slice(-2).join(', '))
      if (event?.type === 'turn_ended') return
    }
  })()
  await say(session, 'Read a.txt')
  await watching
  expect(seen).toHaveLength(1)
  expect(seen[0]).toMatch(/^write tool_result provider_request, sync$|^sync, send$/)
})

function eventOf(seen: WatcherUpdate): WholeEvent | undefined {
  return seen.kind === 'line' ? seen.whole : undefined
}
