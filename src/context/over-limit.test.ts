import { expect, test } from 'vitest'
import { sampleDescriptor, wholeEvents } from '../../test/support/history/sample-resources.ts'
import { TurnId } from '../model/ids.ts'
import { overLimitResources } from './over-limit.ts'

const OLD = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z11')
const NOW = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z12')

/** Three images and a PDF of an old Turn, and an image of this one; each has 400 bytes in base64. */
const EVENTS = wholeEvents(
  (
    [
      [OLD, ['@img1', '@pdf2', '@img3', '@img4']],
      [NOW, ['@img5']],
    ] as const
  ).flatMap(([turn_id, handles]) => {
    const resources = handles.map((handle) =>
      sampleDescriptor(handle, {
        size_bytes: 300,
        ...(handle === '@pdf2' ? { kind: 'pdf', media_type: 'application/pdf' } : {}),
      }),
    )
    return [
      { type: 'turn_started', turn_id, data: { source: { presenter: 'test' } } },
      { type: 'user_message', turn_id, data: { text: '', prompt_mode: 'blocks', resources } },
    ]
  }),
)

test.each([
  ['there is no limit', {}, []],
  ['all fit', { image_count: 4, request_bytes: 2_000 }, []],
  ['there is an image too many', { image_count: 3 }, ['@img1', '@img3']],
  ['there are two images too many', { image_count: 2 }, ['@img1', '@img3', '@img4']],
  ['they are one byte too many', { request_bytes: 1_999 }, ['@img1', '@pdf2']],
  ['they are far too many bytes', { request_bytes: 1_000 }, ['@img1', '@pdf2', '@img3', '@img4']],
  ['nothing fits', { image_count: 0 }, ['@img1', '@img3', '@img4']],
])(
  'if %s, the oldest files are retired first, with a margin, and those of the current Turn stay',
  (_title, limits, gone) => {
    const ids = overLimitResources(EVENTS, NOW, limits).map(({ resource_id }) => resource_id)
    expect(ids).toEqual(gone.map((handle) => sampleDescriptor(handle).resource_id))
  },
)
