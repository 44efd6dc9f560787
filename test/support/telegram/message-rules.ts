import type { InputRichBlock, MessageEntity, RichText } from '@grammyjs/types'
import { usualExtension } from '../../../src/encoding/magic-bytes.ts'
import { imageSize } from '../../../src/tether/image-size.ts'

/** The rules of the Bot API for the content of messages, as its documentation states them. Each returns a description, as Telegram does. */

export function wrongText(
  text: unknown,
  entities: unknown,
  { least, most }: { readonly least: number; readonly most: number },
): string | undefined {
  if (typeof text !== 'string') return 'Bad Request: text must be a string'
  if (least > 0 && text.trim() === '') return 'Bad Request: message text is empty'
  if (text.length > most) return 'Bad Request: message is too long'
  if (!text.isWellFormed()) return 'Bad Request: strings must be encoded in UTF-8'
  return entities === undefined ? undefined : wrongEntities(text, entities)
}

const ENTITY_TYPES = new Set(['bold', 'italic', 'strikethrough', 'code', 'pre', 'blockquote'])

function wrongEntities(text: string, given: unknown): string | undefined {
  if (!Array.isArray(given)) return 'Bad Request: entities must be a list'
  if (given.length > 100) return 'Bad Request: too many entities'
  const entities = given as MessageEntity[]
  for (const { type, offset, length } of entities) {
    if (!ENTITY_TYPES.has(type)) return `Bad Request: entity ${type} is not expected here`
    const inRange = offset >= 0 && length > 0 && offset + length <= text.length
    if (!inRange) return 'Bad Request: entity is out of range'
    const isCut = (at: number) => /[\udc00-\udfff]/.test(text.charAt(at))
    if (isCut(offset) || isCut(offset + length)) return 'Bad Request: entity cuts a character'
  }
  for (const a of entities)
    for (const b of entities) {
      const overlap = a.offset < b.offset && b.offset < a.offset + a.length
      if (overlap && b.offset + b.length > a.offset + a.length)
        return 'Bad Request: entities overlap'
    }
  return undefined
}

/** Photos are at most 10 MB, 10,000 pixels of width and height together, and of a ratio of at most 20. */
export function wrongPhoto(bytes: Buffer): string | undefined {
  const { width, height } = imageSize(bytes) ?? { width: 0, height: 0 }
  if (!['png', 'jpg', 'gif', 'webp'].includes(usualExtension(bytes)) || width === 0)
    return 'Bad Request: IMAGE_PROCESS_FAILED'
  if (bytes.length > 10 * 1024 * 1024) return 'Bad Request: file is too big'
  const isWrong = width + height > 10_000 || Math.max(width, height) > 20 * Math.min(width, height)
  return isWrong ? 'Bad Request: PHOTO_INVALID_DIMENSIONS' : undefined
}

export function wrongDocument(bytes: Buffer): string | undefined {
  if (bytes.length === 0) return 'Bad Request: file must be non-empty'
  return bytes.length > 50 * 1024 * 1024 ? 'Request Entity Too Large' : undefined
}

interface Totals {
  blocks: number
  characters: number
  deepest: number
}

/** 32,768 characters, 500 blocks, 16 levels, 20 columns. */
export function wrongRich(message: unknown): string | undefined {
  if (typeof message !== 'object' || message === null) return 'Bad Request: no rich message'
  const { blocks } = message as { blocks?: InputRichBlock<string>[] }
  if (!Array.isArray(blocks) || blocks.length === 0) return 'Bad Request: rich message is empty'
  const totals = { blocks: 0, characters: 0, deepest: 0 }
  const wrong = wrongBlocks(blocks, 1, totals)
  if (wrong !== undefined) return wrong
  if (totals.characters === 0) return 'Bad Request: rich message is empty'
  if (totals.characters > 32_768) return 'Bad Request: rich message is too long'
  if (totals.blocks > 500) return 'Bad Request: too many blocks'
  return totals.deepest > 16 ? 'Bad Request: blocks are nested too deeply' : undefined
}

function wrongBlocks(
  blocks: readonly InputRichBlock<string>[],
  level: number,
  totals: Totals,
): string | undefined {
  for (const block of blocks) {
    totals.blocks += 1
    totals.deepest = Math.max(totals.deepest, level)
    const wrong = wrongBlock(block, level, totals)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function wrongBlock(
  block: InputRichBlock<string>,
  level: number,
  totals: Totals,
): string | undefined {
  if (block.type === 'paragraph' || block.type === 'pre' || block.type === 'heading') {
    countText(block.text, level + 1, totals)
    const isWrong = block.type === 'heading' && ![1, 2, 3, 4, 5, 6].includes(block.size)
    return isWrong ? 'Bad Request: wrong size' : undefined
  }
  if (block.type === 'divider') return undefined
  if (block.type === 'blockquote') return wrongBlocks(block.blocks, level + 1, totals)
  if (block.type === 'list') {
    totals.blocks += block.items.length
    return block.items
      .map(({ blocks }) => wrongBlocks(blocks, level + 2, totals))
      .find((wrong) => wrong !== undefined)
  }
  if (block.type !== 'table') return `Bad Request: block ${block.type} is not expected here`
  totals.blocks += block.cells.length
  if (block.cells.some((row) => row.length > 20)) return 'Bad Request: too many columns'
  for (const { text = '' } of block.cells.flat()) countText(text, level + 2, totals)
  return undefined
}

function countText(text: RichText, level: number, totals: Totals): void {
  totals.deepest = Math.max(totals.deepest, level)
  if (typeof text === 'string') totals.characters += Array.from(text).length
  else if (Array.isArray(text)) for (const one of text) countText(one, level, totals)
  else if ('text' in text) countText(text.text, level + 1, totals)
}
