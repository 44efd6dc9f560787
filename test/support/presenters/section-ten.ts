import assert from 'node:assert/strict'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '../../../src/encoding/hash.ts'
import { picture } from '../resources/drawing.ts'
import type { ServedPlace } from '../http/local-server.ts'
import { ask, kindOf, type ToolCaller } from './mcp-talk.ts'
import { treeHash } from '../host/tree-hash.ts'

/** A local server with real guests, and what its model received. */
export interface SectionTenPlace {
  /** Contains the home and the workspace. */
  readonly root: string
  readonly home: string
  /** Below a folder of `instances.roots`. */
  readonly workspace: string
  readonly api: ServedPlace['api']
  /** The body of the last request to the model. */
  readonly lastRequest: () => Buffer
  /** Called before blobs are deleted. */
  readonly onDamage: () => Promise<void>
}

const png = (bytes: Buffer) => ({ media_type: 'image/png', data: bytes.toString('base64') })
const PIXELS = picture(3)
const KEY = `${sha256(PIXELS)}.png`
const TOO_LARGE = Buffer.concat([picture(1), Buffer.alloc(15_000_000)])

/**
 * The integration tests 1 to 11 of section 10 of the tether's document, through the tools. The same steps for every client
 * and transport. Rejects at the first that fails.
 */
export async function sectionTen(client: ToolCaller, place: SectionTenPlace): Promise<void> {
  const { workspace } = place
  const created = await client.call('instance_create', { handle: 'a', workspace })
  const { handle, workspace: mapped, state } = created.structuredContent
  assert.deepEqual({ handle, mapped, state }, { handle: 'a', mapped: workspace, state: 'stopped' })
  await imagesIn(client, place)
  const chart = await imageOut(client, place)
  await refusals(client, place)
  await restart(client, place)
  await lostBlobs(client, place, chart)
  await textAndNames(client, place)
}

/** 1, 3 and 11: the answer is about the image, which is one file however often it is sent. */
async function imagesIn(client: ToolCaller, place: SectionTenPlace): Promise<void> {
  const { workspace, lastRequest } = place
  const blobs = async () => readdir(await blobsOf(workspace))
  const seen = await ask(client, 'a', { text: 'What do you see?', images: [png(PIXELS)] })
  const { status, text } = seen.page.frames[0]?.payload ?? {}
  assert.equal(status, 'completed')
  assert.match(String(text), /picture/)
  const stored = await blobs()
  assert.ok(stored.includes(KEY), `no ${KEY} in ${stored.join()}`)
  assert.ok(lastRequest().includes(PIXELS.toString('base64')))

  await ask(client, 'a', { text: 'And now?', images: [png(PIXELS), png(PIXELS)] })
  assert.deepEqual(await blobs(), stored)
}

/** 2: an image that a command of the agent made follows the page. Returns its key. */
async function imageOut(client: ToolCaller, { workspace }: SectionTenPlace): Promise<string> {
  const chart = picture(4)
  await writeFile(join(workspace, 'chart.txt'), chart.toString('base64'))
  await ask(client, 'a', { text: 'Run `base64 -d chart.txt > chart.png`' })
  assert.deepEqual(await readFile(join(workspace, 'chart.png')), chart)
  const out = await ask(client, 'a', { text: 'Attach chart.png to your answer.' })
  const blob = `${sha256(chart)}.png`
  assert.deepEqual(out.page.frames[0]?.payload['images'], [
    { media_type: 'image/png', blob, size: chart.length },
  ])
  assert.deepEqual(out.content, [
    { type: 'text', text: JSON.stringify(out.page) },
    { type: 'image', data: chart.toString('base64'), mimeType: 'image/png' },
  ])
  return blob
}

/** 4, 5 and 6: refused, with nothing written. */
async function refusals(client: ToolCaller, place: SectionTenPlace): Promise<void> {
  const { api, root, home } = place
  await api('POST', '/v1/instances', { handle: 'bare' })
  const without = [join(home, 'logs')]
  const before = await treeHash(root, without)
  const refused = async (images: readonly object[]) =>
    kindOf(await client.call('tether_send', { instance: 'a', text: 'x', images }))
  assert.equal(await refused([png(picture(5)), png(TOO_LARGE)]), 'too_large')
  const five = Array.from({ length: 5 }, (_, at) => png(picture(at + 6)))
  assert.equal(await refused(five), 'too_large')
  const message = { instance: 'bare', text: 'x', images: [png(PIXELS)] }
  const bare = await client.call('tether_send', message)
  assert.equal(kindOf(bare), 'images_require_workspace')
  assert.match(JSON.stringify(bare.structuredContent), /"images require workspace mapping"/)
  assert.equal(await treeHash(root, without), before)
}

/** 9: after a restart of the agent, the model sees the images again. */
async function restart(client: ToolCaller, { lastRequest }: SectionTenPlace): Promise<void> {
  await client.call('instance_stop', { instance: 'a' })
  const { page } = await ask(client, 'a', { text: 'What happened?' })
  assert.equal(page.frames[0]?.payload['status'], 'completed')
  assert.ok(lastRequest().includes(PIXELS.toString('base64')))
}

/** The blobs of the only Instance that works here. */
async function blobsOf(workspace: string): Promise<string> {
  const all = join(workspace, '.hawser/instances')
  const instance = (await readdir(all)).find((name) => name.startsWith('ins_')) ?? ''
  return join(all, instance, 'blobs')
}

/** 7: without the blobs, the text is kept and one line says what is missing, to the model and to the host. */
async function lostBlobs(
  client: ToolCaller,
  { workspace, lastRequest, onDamage }: SectionTenPlace,
  chart: string,
): Promise<void> {
  await onDamage()
  for (const blob of [KEY, chart]) await rm(join(await blobsOf(workspace), blob))
  await client.call('instance_stop', { instance: 'a' })
  const { page } = await ask(client, 'a', { text: 'What happened?' })
  assert.equal(page.frames[0]?.payload['status'], 'completed')
  const body = lastRequest().toString('utf8')
  assert.match(body, /What do you see\?/)
  assert.match(body, /missing/)
  const reread = await client.call('tether_read', { instance: 'a', after_seq: 0 })
  const [missing, ...more] = reread.content.slice(1)
  assert.deepEqual([missing?.['type'], more], ['text', []])
  assert.ok(String(missing?.['text']).includes(chart))
}

/** 8: text alone works as ever. 10: a name that is not a key leads nowhere, and neither does one that is not a handle. */
async function textAndNames(client: ToolCaller, { api }: SectionTenPlace): Promise<void> {
  const plain = await ask(client, 'a', { text: 'What happened?', session_id: 'other' })
  assert.equal(plain.content.length, 1)
  const name = '../../etc/passwd'
  const { status } = await api('GET', `/v1/instances/a/blobs/${encodeURIComponent(name)}`)
  assert.ok(status >= 400, `the blob ${name} got ${status}`)
  assert.equal(kindOf(await client.call('instance_info', { instance: name })), 'not_found')
}
