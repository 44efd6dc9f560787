// Section 10 of the tether's document through MCP: every client, on both transports.
import { readdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sha256 } from '../../../src/encoding/hash.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { mcpClient, TRANSPORTS, type ClientName } from '../../support/presenters/mcp-clients.ts'
import { mcpPlace } from '../../support/presenters/mcp-place.ts'
import { ask, kindOf } from '../../support/presenters/mcp-talk.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import { picture } from '../../support/resources/drawing.ts'
import { sectionTen } from '../../support/presenters/section-ten.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()
const canNest = status.isConfined && status.nests === true

const ways = (...clients: readonly ClientName[]) =>
  TRANSPORTS.flatMap((transport) => clients.map((client) => [client, transport] as const))

test.runIf(canNest).each(ways('v2 auto', 'v1'))(
  'the client %s over %s sends and reads images, and every wrong message leaves nothing [TI-003] [TI-017] [TI-037] [TI-043] [TI-059] [TI-061] [TI-062] [TI-063] [TI-065] [TI-066] [TI-067] [TI-068] [TI-069] [TI-070] [TI-071] [TI-074] [TI-109] [TI-110] [TI-111] [TI-112] [TI-113] [TI-114]',
  async (name, transport) => {
    const place = await mcpPlace()
    const { root, vendor, api } = place
    const client = await mcpClient(name, transport, place)
    expect(await client.tools()).toHaveLength(7)
    const workspace = await place.workspaceOf('a')
    await sectionTen(client, {
      root,
      home: join(root, 'home'),
      workspace,
      api,
      lastRequest: () => vendor.requests.at(-1)?.bytes ?? Buffer.alloc(0),
      onDamage: () => registerDamage(workspace, 'blobs', 'Blobs of an agent are deleted.'),
    })
  },
)

test.runIf(canNest).each(ways('v2 legacy', 'v2 pinned'))(
  'the client %s over %s gets an answer about an image',
  async (name, transport) => {
    const place = await mcpPlace()
    const client = await mcpClient(name, transport, place)
    const created = await client.call('instance_create', { handle: 'a' })
    expect(created.structuredContent).toMatchObject({ workspace: expect.stringContaining('home') })
    const images = [{ media_type: 'image/png', data: picture(3).toString('base64') }]
    const { page } = await ask(client, 'a', { text: 'What do you see?', images })
    expect(page.frames[0]?.payload['text']).toContain('picture')
    expect(kindOf(await client.call('instance_info', { instance: 'nobody' }))).toBe('not_found')
  },
)

test.runIf(canNest).each(ways('v2 auto'))(
  'the client %s over %s needs an Instance and a text, and each call finds the workspace of that Instance as it is now [TI-028] [TI-060] [TI-064] [TI-109]',
  async (name, transport) => {
    const place = await mcpPlace()
    const client = await mcpClient(name, transport, place)
    const [one, two, three] = await Promise.all(['one', 'two', 'three'].map(place.workspaceOf))
    await client.call('instance_create', { handle: 'a', workspace: one })
    await client.call('instance_create', { handle: 'b', workspace: two })
    for (const bad of [{ text: 'x' }, { instance: 'a' }, { instance: 'a', text: 7 }]) {
      const refused = await client.call('tether_send', bad).catch(() => 'refused')
      if (refused !== 'refused') expect(refused).toMatchObject({ isError: true })
    }
    const sent = await client.call('tether_send', { instance: 'a', text: 'What happened?' })
    expect(sent.structuredContent).toMatchObject({ session_id: 'default' })

    const image = (seed: number) => ({
      media_type: 'image/png',
      data: picture(seed).toString('base64'),
    })
    const say = (instance: string, seed: number) =>
      ask(client, instance, { text: 'What do you see?', images: [image(seed)] })
    await say('a', 1)
    await say('b', 2)
    const imagesIn = async (workspace = '') => {
      const all = await readdir(workspace, { recursive: true })
      return all.filter((path) => path.endsWith('.png')).map((path) => basename(path))
    }
    const keyOf = (seed: number) => `${sha256(picture(seed))}.png`
    expect(await imagesIn(one)).toEqual([keyOf(1)])
    expect(await imagesIn(two)).toEqual([keyOf(2)])
    // The next call of the same host goes where the Instance works by then.
    await place.api('PATCH', '/v1/instances/a', { workspace: three })
    await say('a', 3)
    expect(await imagesIn(three)).toEqual([keyOf(3)])
    expect(await imagesIn(one)).toEqual([keyOf(1)])
    // And so do its reads.
    await writeFile(join(three ?? '', 'chart.png'), picture(4))
    const out = await ask(client, 'a', { text: 'Attach chart.png to your answer.' })
    const data = picture(4).toString('base64')
    expect(out.content[1]).toEqual({ type: 'image', data, mimeType: 'image/png' })
  },
)
