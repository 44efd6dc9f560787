import type { BlobStore, OpenBlob } from '../../blobs/store.ts'
import { charsetName } from '../../encoding/charset.ts'
import type { Redactor } from '../../encoding/redaction.ts'
import { causeOf, ok, type Result } from '../../model/errors.ts'
import type { StoredText } from './searched-texts.ts'

/** Why a stored text cannot be read. */
export type UnreadBecause = 'missing' | 'damaged'

/** Longer lines are divided, so that memory is bounded. */
const PIECE_CHARACTERS = 256 * 1024

/**
 * Passes the text of a blob to `visit`, decoded and redacted, in pieces that end with a line, until `visit` returns
 * false. Returns why it cannot be read, if so; fails only if the store does.
 */
export async function readStoredText(
  store: BlobStore,
  { blob, charset = 'utf-8' }: Pick<StoredText, 'blob' | 'charset'>,
  redactor: Redactor,
  visit: (piece: string) => void | false | Promise<void | false>,
): Promise<Result<UnreadBecause | undefined>> {
  // A Log from elsewhere may name any charset.
  if (charsetName(charset) === undefined) return ok('damaged')
  const opened = await store.open(blob)
  if (!opened.ok) {
    const cause = causeOf(opened.error)
    return cause?.type === 'payload' ? ok(cause.state) : opened
  }
  try {
    for await (const piece of piecesOf(opened.value, charset, redactor)) {
      if ((await visit(piece)) === false) break
    }
    return ok(undefined)
  } finally {
    await opened.value.close()
  }
}

/** Without a key, the text need not be searched for one. */
const UNCHANGED = { push: (text: string) => text, end: () => '' }

async function* piecesOf(
  blob: OpenBlob,
  charset: string,
  redactor: Redactor,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(charset)
  const clean = redactor.keys.length === 0 ? UNCHANGED : redactor.textStream()
  let held = ''
  for await (const bytes of blob.read()) {
    held += clean.push(decoder.decode(bytes, { stream: true }))
    const newline = held.lastIndexOf('\n')
    const end = newline === -1 && held.length >= PIECE_CHARACTERS ? held.length : newline + 1
    if (end > 0) yield held.slice(0, end)
    held = held.slice(end)
  }
  held += clean.push(decoder.decode()) + clean.end()
  if (held !== '') yield held
}
