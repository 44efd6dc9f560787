// Section 10 of the tether's document through MCP: every client, on both transports.
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemSandbox } from '../../src/host/sandbox/sandbox.ts'
import { removeGuestProgram } from '../support/guest-bundle.ts'
import { mcpClient, TRANSPORTS, type ClientName } from '../support/mcp-clients.ts'
import { mcpPlace } from '../support/mcp-place.ts'
import { ask, kindOf } from '../support/mcp-talk.ts'
import { registerDamage } from '../support/registered-damage.ts'
import { picture } from '../support/drawing.ts'
import { sectionTen } from '../support/section-ten.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()
const canNest = status.confined && status.nests === true

const ways = (...clients: readonly ClientName[]) =>
  TRANSPORTS.flatMap((transport) => clients.map((client) => [client, transport] as const))

test.runIf(canNest).each(ways('v2 auto', 'v1'))(
  'the client %s over %s sends and reads images, and every wrong message leaves nothing [TI-003] [TI-017] [TI-020] [TI-028] [TI-037] [TI-043] [TI-059] [TI-060] [TI-061] [TI-062] [TI-063] [TI-064] [TI-065] [TI-066] [TI-067] [TI-068] [TI-069] [TI-070] [TI-071] [TI-074] [TI-109] [TI-110] [TI-111] [TI-112] [TI-113] [TI-114]',
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
