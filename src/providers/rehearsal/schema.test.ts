import { expect, test } from 'vitest'
import { readRequest } from './schema.ts'

function read(value: unknown) {
  return readRequest(Buffer.from(JSON.stringify(value)))
}

test('roles and parts that are not known are kept by name', () => {
  const segments = [
    { role: 'hologram', depth: 3 },
    {
      role: 'user',
      parts: [
        { type: 'image', url: 'x' },
        { type: 'text', text: 'hi' },
      ],
      later: 1,
    },
  ]
  expect(read({ dialect: 'rehearsal', segments, more: true })).toEqual({
    ok: true,
    value: {
      dialect: 'rehearsal',
      segments: [
        { role: 'other', of: 'hologram' },
        {
          role: 'user',
          parts: [
            { type: 'other', of: 'image' },
            { type: 'text', text: 'hi' },
          ],
        },
      ],
    },
  })
})

test.each([
  ['no JSON', Buffer.from('{')],
  ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
  ['nothing', Buffer.alloc(0)],
  ['another dialect', Buffer.from('{"dialect":"chat","segments":[]}')],
  ['no list', Buffer.from('{"dialect":"rehearsal","segments":{}}')],
  ['no role', Buffer.from('{"dialect":"rehearsal","segments":[{}]}')],
  ['no text', Buffer.from('{"dialect":"rehearsal","segments":[{"role":"system"}]}')],
  [
    'a text part without text',
    Buffer.from('{"dialect":"rehearsal","segments":[{"role":"user","parts":[{"type":"text"}]}]}'),
  ],
])('a body of %s is refused as a vendor would', (_, body) => {
  const refused = readRequest(body)
  expect(refused.ok ? undefined : refused.error.kind).toBe('invalid_args')
})
