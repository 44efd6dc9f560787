// Section 10 of the tether's document through MCP: every client, on both transports.
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sha256 } from '../../src/encoding/hash.ts'
import { systemSandbox } from '../../src/host/sandbox/sandbox.ts'
import { removeGuestProgram } from '../support/guest-bundle.ts'
import { mcpClient, TRANSPORTS, type ClientName } from '../support/mcp-clients.ts'
import { ask, kindOf, mcpPlace } from '../support/mcp-place.ts'
import { registerDamage } from '../support/registered-damage.ts'
import { picture } from '../support/sample-files.ts'
import { treeHash } from '../support/tree-hash.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()
const canNest = status.confined && status.nests === true

const ways = (...clients: readonly ClientName[]) =>
  TRANSPORTS.flatMap((transport) => clients.map((client) => [client, transport] as const))

const png = (bytes: Buffer) => ({ media_type: 'image/png', data: bytes.toString('base64') })
const TOO_LARGE = Buffer.concat([picture(1), Buffer.alloc(15_000_000)])

test.runIf(canNest).each(ways('v2 auto', 'v1'))(
  'the client %s over %s sends and reads images, and every wrong message leaves nothing [TI-003] [TI-017] [TI-028] [TI-037] [TI-043] [TI-059] [TI-060] [TI-061] [TI-062] [TI-063] [TI-064] [TI-065] [TI-066] [TI-067] [TI-068] [TI-069] [TI-070] [TI-071] [TI-109] [TI-110] [TI-111] [TI-112] [TI-113]',
  async (name, transport) => {
    const place = await mcpPlace()
    const { vendor, api } = place
    const client = await mcpClient(name, transport, place)
    expect(await client.tools()).toHaveLength(7)
    const workspace = await place.workspaceOf('a')
    const blobs = async () => readdir(join(workspace, '.hawser/blobs'))
    const created = await client.call('instance_create', { handle: 'a', workspace })
    expect(created.structuredContent).toMatchObject({ handle: 'a', workspace, state: 'stopped' })

    // 1: an image goes in, and the answer is about it.
    const pixels = picture(3)
    const key = `${sha256(pixels)}.png`
    const seen = await ask(client, 'a', { text: 'What do you see?', images: [png(pixels)] })
    expect(seen.page.frames[0]?.payload).toMatchObject({
      status: 'completed',
      text: expect.stringContaining('picture'),
    })
    expect(await blobs()).toContain(key)
    expect(vendor.requests.at(-1)?.bytes.includes(pixels.toString('base64'))).toBe(true)

    // 3 and 11: sent twice in one message and again in another, it is one file.
    const stored = await blobs()
    await ask(client, 'a', { text: 'And now?', images: [png(pixels), png(pixels)] })
    expect(await blobs()).toEqual(stored)

    // 2: an image of the agent comes out, after the page as JSON.
    const chart = picture(4)
    await writeFile(join(workspace, 'chart.png'), chart)
    const out = await ask(client, 'a', { text: 'Attach chart.png to your answer.' })
    const reference = { media_type: 'image/png', blob: `${sha256(chart)}.png`, size: chart.length }
    expect(out.page.frames[0]?.payload['images']).toEqual([reference])
    expect(out.content).toEqual([
      { type: 'text', text: JSON.stringify(out.page) },
      { type: 'image', data: chart.toString('base64'), mimeType: 'image/png' },
    ])

    // 4, 5 and 6: refused, with nothing written.
    await api('POST', '/v1/instances', { handle: 'bare' })
    const logs = [join(place.root, 'home/logs')]
    const before = await treeHash(place.root, logs)
    const refused = async (instance: string, images: readonly object[]) =>
      kindOf(await client.call('tether_send', { instance, text: 'x', images }))
    expect(await refused('a', [png(picture(5)), png(TOO_LARGE)])).toBe('too_large')
    expect(
      await refused(
        'a',
        Array.from({ length: 5 }, (_, at) => png(picture(at + 6))),
      ),
    ).toBe('too_large')
    const bare = await client.call('tether_send', {
      instance: 'bare',
      text: 'x',
      images: [png(pixels)],
    })
    expect(bare).toMatchObject({
      isError: true,
      structuredContent: {
        error: { kind: 'images_require_workspace', message: 'images require workspace mapping' },
      },
    })
    expect(await treeHash(place.root, logs)).toEqual(before)

    // 9: after a restart of the agent, the model sees the images again.
    await client.call('instance_stop', { instance: 'a' })
    const again = await ask(client, 'a', { text: 'What happened?' })
    expect(again.page.frames[0]?.payload).toMatchObject({ status: 'completed' })
    expect(vendor.requests.at(-1)?.bytes.includes(pixels.toString('base64'))).toBe(true)

    // 7: without the blobs, the text is kept and one line says what is missing, to the model and to the host.
    await registerDamage(workspace, 'blobs', 'Blobs of an agent are deleted.')
    for (const blob of [key, reference.blob]) await rm(join(workspace, '.hawser/blobs', blob))
    await client.call('instance_stop', { instance: 'a' })
    const lost = await ask(client, 'a', { text: 'What happened?' })
    expect(lost.page.frames[0]?.payload).toMatchObject({ status: 'completed' })
    const body = vendor.requests.at(-1)?.bytes.toString('utf8') ?? ''
    expect(body).toContain('What do you see?')
    expect(body).toMatch(/missing/)
    const reread = await client.call('tether_read', { instance: 'a', after_seq: 0 })
    expect(reread.content.slice(1)).toEqual([
      { type: 'text', text: expect.stringContaining(reference.blob) },
    ])

    // 8: text alone works as ever; 10: a name that is no key leads nowhere.
    const plain = await ask(client, 'a', { text: 'What happened?', session_id: 'other' })
    expect(plain.content).toHaveLength(1)
    const passwd = encodeURIComponent('../../etc/passwd')
    expect((await api('GET', `/v1/instances/a/blobs/${passwd}`)).status).toBeGreaterThanOrEqual(400)
  },
)

test.runIf(canNest).each(ways('v2 legacy', 'v2 pinned'))(
  'the client %s over %s gets an answer about an image',
  async (name, transport) => {
    const place = await mcpPlace()
    const client = await mcpClient(name, transport, place)
    const created = await client.call('instance_create', { handle: 'a' })
    expect(created.structuredContent).toMatchObject({ workspace: expect.stringContaining('home') })
    const images = [png(picture(3))]
    const { page } = await ask(client, 'a', { text: 'What do you see?', images })
    expect(page.frames[0]?.payload['text']).toContain('picture')
    expect(kindOf(await client.call('instance_info', { instance: 'nobody' }))).toBe('not_found')
  },
)
