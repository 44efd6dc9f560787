// What the Log and the model receive, every face reports to its person: through the real faces.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openWorkspace } from '../../../src/index.ts'
import { acpPlace, newSession as newAcpSession } from '../../support/presenters/acp-editor.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { runCli } from '../../support/cli/cli.ts'
import { picture } from '../../support/resources/drawing.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { localServer } from '../../support/http/local-server.ts'
import { newSession, turn } from '../../support/http/stream-client.ts'
import { value } from '../../support/log/story.ts'
import { sseOf } from '../../support/providers/vendor-answer.ts'
import { scriptedServer } from '../../support/providers/vendor-server.ts'

const PIXELS = picture(5)

/** A place with an image, a Skill with a context source, and a vendor that cannot read any image. */
async function place(settings: readonly (readonly [string, string])[] = []) {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(join(root, 'home/skills/tides'), { recursive: true, mode: 0o700 })
  await mkdir(workspace)
  await writeFile(join(root, 'home/skills/tides/SKILL.md'), SKILL)
  const image = join(workspace, 'harbour.png')
  await writeFile(image, PIXELS)
  const vendor = await scriptedServer(({ bytes }) =>
    bytes.includes(PIXELS.toString('base64'))
      ? { status: 400, body: JSON.stringify({ type: 'error', error: UNREADABLE }) }
      : { body: sseOf('messages', { text: 'A harbour.' }) },
  )
  onTestFinished(() => vendor.close())
  const env = {
    HAWSER_PROVIDER: 'anthropic',
    ANTHROPIC_API_KEY: CANARY_KEY,
    ANTHROPIC_BASE_URL: vendor.baseUrl('messages'),
  }
  for (const [key, setting] of settings) await runCli({ root }, 'config', 'set', key, setting)
  return { root, workspace, image, env }
}

const UNREADABLE = { type: 'invalid_request_error', message: 'Could not process image' }
const SKILL = `---
name: tides
description: Looks up the tides.
context_sources:
  - id: table
    description: the table of tides
    command: [touch, changed.txt]
---

Look at the table.
`

interface Fact {
  readonly settings: readonly (readonly [string, string])[]
  readonly code: string
  readonly text: RegExp
  readonly about: 'image' | 'skill'
}

const FACTS: readonly Fact[] = [
  {
    settings: [['resources.upload', 'deny']],
    code: 'upload_denied',
    text: /@img1/,
    about: 'image',
  },
  { settings: [], code: 'resource_quarantined', text: /@img1 harbour\.png/, about: 'image' },
  {
    settings: [['permission', 'read-only']],
    code: 'hydration_denied',
    text: /table of Skill tides: denied/,
    about: 'skill',
  },
]

const told = ({ code, text }: Fact): unknown =>
  expect.objectContaining({ code, text: expect.stringMatching(text) as string })

test.each(FACTS)(
  'HTTP tells $code in the stream and with its end [AR-004] [AR-009]',
  async (fact) => {
    const { root, env, image } = await place(fact.settings)
    const server = await localServer({ root, env })
    const id = await newSession(server)
    const more =
      fact.about === 'image'
        ? { attachments: [image] }
        : { skills: [{ name: 'tides', with: [{ id: 'table' }] }] }
    const stream = await turn(server, id, 'Look.', more)
    await stream.ended
    expect(stream.of('session:notice')).toContainEqual(told(fact))
    expect(stream.of('process:exit')).toEqual([
      expect.objectContaining({ exitCode: 0, notices: expect.arrayContaining([told(fact)]) }),
    ])
  },
)

test.each(FACTS)('the library tells $code with the result [AR-005] [AR-009]', async (fact) => {
  const { root, env, workspace: path, image } = await place(fact.settings)
  const workspace = value(await openWorkspace(path, { home: join(root, 'home'), env }))
  onTestFinished(() => workspace.close())
  const session = value(await workspace.create({}))
  const more =
    fact.about === 'image'
      ? { attachments: [{ from: 'path', path: image } as const] }
      : { skills: [{ name: 'tides', with: [{ id: 'table' }] }] }
  const result = value(await value(await session.admit('Look.', more)).done)
  expect(result.notices).toContainEqual(told(fact))
})

test.each(FACTS)(
  'run tells $code, and a denied hydration exits 3 for whatever reason [AR-001] [AR-002] [AR-009]',
  async (fact) => {
    const { root, env, image } = await place(fact.settings)
    const argv =
      fact.about === 'image' ? ['Look.', '--attach', image] : ['/tides --with table Look.']
    const json = await runCli({ root, env }, 'run', '--output', 'json', ...argv)
    const code = fact.about === 'skill' ? 3 : 0
    expect([json.code, JSON.parse(json.stdout)]).toEqual([
      code,
      expect.objectContaining({
        notices: expect.arrayContaining([told(fact)]),
        denied: fact.about === 'skill' ? 1 : 0,
      }),
    ])
    const shown = await runCli({ root, env }, 'run', ...argv)
    expect(shown.stderr).toMatch(fact.text)
  },
)

test('a hydration counts as denied once, also if no one could be asked', async () => {
  const { root, env } = await place([['permission', 'ask']])
  const run = await runCli({ root, env }, 'run', '--output', 'json', '/tides --with table Look.')
  expect([run.code, JSON.parse(run.stdout)]).toEqual([3, expect.objectContaining({ denied: 1 })])
})

test.each(FACTS)(
  'an editor is informed of $code, and gets it with the answer [AR-006] [AR-009]',
  async (fact) => {
    const { root, env, image } = await place(fact.settings)
    const acp = await acpPlace({ root, env })
    const id = await newAcpSession(acp)
    const prompt =
      fact.about === 'image'
        ? [
            { type: 'text', text: 'Look.' } as const,
            { type: 'resource_link', uri: `file://${image}`, name: 'harbour.png' } as const,
          ]
        : '/tides --with table Look.'
    const { _meta } = await acp.editor.prompt(id, prompt)
    expect(_meta?.['hawser']).toMatchObject({ notices: expect.arrayContaining([told(fact)]) })
    expect(acp.editor.text).toMatch(fact.text)
  },
)
