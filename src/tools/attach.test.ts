import { expect, test } from 'vitest'
import { NO_RESOURCES } from '../../test/support/resources/no-resources.ts'
import { sampleDescriptor } from '../../test/support/history/sample-resources.ts'
import { toolWorld } from '../../test/support/skills/tool-world.ts'
import { value } from '../../test/support/log/story.ts'
import { ok } from '../model/errors.ts'
import { attach } from './attach.ts'
import type { ToolResources } from './tool.ts'

const chart = sampleDescriptor('@img4')

async function attached(args: object, resources: Partial<ToolResources>) {
  const { context, close } = await toolWorld()
  const call = value(attach.parse(JSON.stringify(args)))
  const outcome = await call.run({ ...context, resources: { ...NO_RESOURCES, ...resources } })
  await close()
  return { claim: call.claim, outcome }
}

test('a file is attached under its own handle, in the result and as a Resource', async () => {
  const titles: unknown[] = []
  const { claim, outcome } = await attached(
    { path: 'out/chart.png', title: 'Tides' },
    {
      ingest: async (path) => {
        expect(path).toBe('out/chart.png')
        return ok({ ok: true, facts: chart })
      },
      name: (facts) => {
        titles.push(facts.title)
        return ok(chart)
      },
    },
  )
  expect(claim).toEqual({
    tool: 'attach',
    effect: 'read',
    paths: ['out/chart.png'],
    network: false,
  })
  expect(outcome).toEqual({
    outcome: 'ok',
    output: 'Attached: [@img4: image, "img4.png", image/png, 3 bytes]',
    resources: [chart],
    record: [{ type: 'resource_ingested', data: { descriptor: chart, origin: 'egress' } }],
  })
  expect(titles).toEqual(['Tides'])
})

test('a refused file is reported with its code and figures, and nothing is attached', async () => {
  const error = {
    code: 'too_large',
    name: 'a.png',
    reason: 'too large',
    limit: 1,
    actual: 2,
  } as const
  const { outcome } = await attached(
    { path: 'a.png' },
    { ingest: async () => ok({ ok: false, given: 'a.png', error }) },
  )
  expect([outcome.error?.kind, outcome.error?.details, outcome.record]).toEqual([
    'attachments_failed',
    { code: 'too_large', limit: 1, actual: 2 },
    undefined,
  ])
})
