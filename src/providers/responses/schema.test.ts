import { expect, test } from 'vitest'
import { readEvent } from './schema.ts'

test.each(['response.output_text.done', 'response.content_part.done'])(
  '%s, which repeats text already received, is not parsed',
  (of) => {
    expect(readEvent(`{"type":"${of}","text":`)).toEqual({ ok: true, value: { type: 'other', of } })
  },
)

test.each(['response.output_item.done', 'response.completed', 'response.refusal.done'])(
  '%s is refused if it is not JSON',
  (type) => {
    expect(readEvent(`{"type":"${type}","text":`)).toMatchObject({
      error: { kind: 'invalid_response' },
    })
  },
)
