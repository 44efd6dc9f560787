import { expect, test } from 'vitest'
import { FRAME_DIRECTIONS, FRAME_TYPES, ImageReference } from '../../src/model/tether/frame.ts'

test('the frames are these, each with one direction', () => {
  expect(FRAME_TYPES).toEqual(Object.keys(FRAME_DIRECTIONS))
  expect(FRAME_DIRECTIONS).toEqual({
    'user.message': 'guest',
    'control.cancel': 'guest',
    'control.ping': 'guest',
    'event.ack': 'host',
    'status.presence': 'host',
    'assistant.delta': 'host',
    'reasoning.delta': 'host',
    'assistant.done': 'host',
    error: 'host',
    'status.pong': 'host',
  })
})

test('an image reference has a media type, a blob key and a size, and nothing else [TI-034]', () => {
  expect(Object.keys(ImageReference.shape)).toEqual(['media_type', 'blob', 'size'])
})
