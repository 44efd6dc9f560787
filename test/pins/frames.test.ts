import { expect, test } from 'vitest'
import { FRAME_DIRECTIONS, FRAME_TYPES, ImageReference } from '../../src/model/tether/frame.ts'

test('the frames are these, each with one direction', () => {
  expect(FRAME_TYPES).toEqual(Object.keys(FRAME_DIRECTIONS))
  expect(FRAME_DIRECTIONS).toMatchSnapshot()
})

test('an image reference has a media type, a blob key and a size, and nothing else [TI-034]', () => {
  expect(Object.keys(ImageReference.shape)).toEqual(['media_type', 'blob', 'size'])
})
