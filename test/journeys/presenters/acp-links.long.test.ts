// What becomes of links that were not copied or not fetched, through the program that an editor starts.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ContentBlock } from '@agentclientprotocol/sdk'
import { expect, onTestFinished, test } from 'vitest'
import { acpProgram, newSession, type AcpPlace } from '../../support/presenters/acp-editor.ts'
import { nextRequest, verifiedRequests } from '../../support/cli/mentioned.ts'
import { filler } from '../../support/pressure/talk.ts'

/** A server on this machine that counts who connects to it. */
async function watchedServer() {
  let connections = 0
  const server = createServer((_, response) => void response.end('the tide turns'))
  server.on('connection', () => (connections += 1))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, connections: () => connections }
}

interface LoggedEvent {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

async function eventsOf({ workspace }: AcpPlace, id: string, type: string) {
  const log = await readFile(join(workspace, '.hawser', 'sessions', `${id}.ndjson`), 'utf8')
  const events = log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LoggedEvent)
  return events.filter((one) => one.type === type).map(({ data }) => data)
}

test('[SR-053] [SR-054] [SR-014] [SR-034] a link keeps its URL, and why it has no content, after checkpoints, and is never fetched', async () => {
  const server = await watchedServer()
  const place = await acpProgram()
  const { editor, root } = place
  const outside = join(root, 'outside')
  await mkdir(outside)
  const id = await newSession(place)
  const url = `${server.origin}/tides`
  const links: ContentBlock[] = [
    { type: 'text', text: 'Keep these.' },
    { type: 'resource_link', uri: `${url}?key=secret`, name: 'tides' },
    { type: 'resource_link', uri: pathToFileURL(join(outside, 'gone.txt')).href, name: 'gone.txt' },
  ]
  await editor.prompt(id, links)
  const viewed = async () => {
    await editor.prompt(id, 'View @link1')
    await editor.prompt(id, 'View @link2')
    const outputs = (await eventsOf(place, id, 'tool_result')).map(({ output }) => String(output))
    return outputs.slice(-2)
  }
  const expected = [
    expect.stringMatching(new RegExp(`${url}.*not fetched`)),
    expect.stringMatching(/gone\.txt.*not copied: it does not exist/),
  ]
  expect(await viewed()).toEqual(expected)
  for (const round of [1, 2]) {
    for (let turn = 0; turn < 8; turn += 1)
      await editor.prompt(id, filler(`round ${round}, turn ${turn}`, 8_000))
    await editor.prompt(id, '/compact')
    expect(await eventsOf(place, id, 'history_compaction')).toHaveLength(round)
    // Another process reads the Session, as one that resumes it does.
    const sent = await nextRequest(root)
    expect(sent).not.toContain('[@link1: link')
    expect(sent).toContain(String.raw`@link1 \"${url}\" (the target was not fetched)`)
    expect(sent).toContain(
      String.raw`@link2 \"gone.txt\" (a local file that was not copied: it does not exist`,
    )
    expect(sent).not.toContain(outside)
    expect(await viewed()).toEqual(expected)
  }
  await verifiedRequests(root)
  expect(server.connections()).toBe(0)
})

test('[SR-051] [SR-052] [SR-049] a linked folder lists its names if it is in the workspace, and the text stays as written', async () => {
  const place = await acpProgram()
  const { editor, root, workspace } = place
  const outside = join(root, 'outside')
  for (const folder of [join(workspace, 'deck'), outside]) {
    await mkdir(folder)
    for (let at = 0; at < 120; at += 1)
      await writeFile(join(folder, `${folder === outside ? 'secret' : 'plank'}-${at}.txt`), '')
  }
  const id = await newSession(place)
  const link = (path: string, name: string): ContentBlock => ({
    type: 'resource_link',
    uri: pathToFileURL(path).href,
    name,
  })
  const text = '  What is in\tthese two?\n'
  await editor.prompt(id, [
    { type: 'text', text },
    link(join(workspace, 'deck'), 'deck'),
    link(outside, 'outside'),
  ])
  const [message] = await eventsOf(place, id, 'user_message')
  expect(message?.['text']).toBe(text)
  const sent = await nextRequest(root)
  expect(new Set(sent.match(/plank-\d+\.txt/g)).size).toBe(100)
  expect(sent).not.toContain('secret-')
  expect(sent).not.toContain(outside)
})
