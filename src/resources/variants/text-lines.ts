import { decodedPieces } from '../../encoding/charset.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { VariantSpan, Variant } from './variant.ts'

/** A range of lines of a text, with their line ends, in UTF-8. `charset` is the `TextDecoder` label of the source. */
export function textLines(
  bytes: Buffer,
  { from, to }: VariantSpan,
  charset = 'utf-8',
): Result<Variant> {
  const text = decodeText(bytes, charset)
  if (text === undefined) {
    const message = `The text is encoded in ${charset}, which is not supported.`
    return failed('unreadable', message, { code: 'unsupported_type', charset })
  }
  const lines = text === '' ? [] : text.split(/(?<=\n)/)
  if (from < 1 || to < from || to > lines.length) {
    const count = lines.length === 1 ? '1 line' : `${lines.length} lines`
    const message = `The text has ${count}; lines ${from} to ${to} do not exist.`
    return failed('invalid_args', message, { lines: lines.length })
  }
  return ok({
    bytes: Buffer.from(lines.slice(from - 1, to).join('')),
    media_type: 'text/plain',
    params: { encoder: 'hawser', format: 'text' },
  })
}

function decodeText(bytes: Buffer, charset: string): string | undefined {
  try {
    return [...decodedPieces(bytes, charset)].join('')
  } catch {
    return undefined
  }
}
