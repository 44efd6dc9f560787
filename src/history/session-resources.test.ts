import { expect, test } from 'vitest'
import { sampleDescriptor, wholeEvents } from '../../test/support/history/sample-resources.ts'
import { SessionResources } from './session-resources.ts'

const image = sampleDescriptor('@img1')
const chart = sampleDescriptor('@img7')

test('Resources are found by handle and by id, in order of arrival, with who attached them', () => {
  const resources = new SessionResources(
    wholeEvents([
      { type: 'user_message', data: { text: '', prompt_mode: 'blocks', resources: [image] } },
      { type: 'resource_ingested', data: { descriptor: chart, origin: 'egress' } },
    ]),
  )
  expect(resources.all.map(({ descriptor, by, seq }) => [descriptor.handle, by, seq])).toEqual([
    ['@img1', 'person', 0],
    ['@img7', 'agent', 1],
  ])
  expect(resources.byHandle('@img7')?.descriptor).toEqual(chart)
  expect(resources.byId(image.resource_id)?.descriptor).toEqual(image)
  expect(resources.byHandle('@img2')).toBe(undefined)
  expect(resources.last).toBe(7)
})

test.each([
  ['dropped', { type: 'resource_dropped', data: { resource_id: image.resource_id, by: 'person' } }],
  [
    'quarantined',
    {
      type: 'resource_quarantined',
      data: {
        resource_id: image.resource_id,
        dialect: 'messages',
        provider_error: { message: 'no' },
      },
    },
  ],
  [undefined, { type: 'resource_retired', data: { resource_id: image.resource_id, why: 'cost' } }],
] as const)('the state of a Resource is %s after the Event that changes it', (gone, event) => {
  const resources = new SessionResources(
    wholeEvents([
      { type: 'user_message', data: { text: '', prompt_mode: 'blocks', resources: [image] } },
      event,
    ]),
  )
  expect(resources.byHandle('@img1')?.goneBy).toBe(gone)
})
