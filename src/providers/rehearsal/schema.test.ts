import { expect, test } from 'vitest'
import { readRequest } from './schema.ts'

function read(value: unknown) {
  return readRequest(Buffer.from(JSON.stringify(value)))
}

test('unknown roles and parts are kept by name', () => {
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
  ['invalid JSON', Buffer.from('{')],
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

test('24 MiB of an image are accepted, and invalid base64 is refused', () => {
  const data = Buffer.alloc(24 * 1024 * 1024, 7).toString('base64')
  const blob = (text: string) => ({
    dialect: 'rehearsal',
    segments: [{ role: 'user', parts: [{ type: 'blob', media_type: 'image/png', data: text }] }],
  })
  expect(read(blob(data)).ok).toBe(true)
  for (const wrong of [`${data}a`, `${data.slice(4)}=aaa`, `-${data.slice(1)}`])
    expect(read(blob(wrong)).ok).toBe(false)
})
