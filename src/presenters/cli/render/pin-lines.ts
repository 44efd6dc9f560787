import { countOf, groupDigits } from '../../../encoding/amounts.ts'
import { LIMITS } from '../../../model/limits.ts'
import { visibleText } from '../text/visible-text.ts'

/** The pinned texts of a Session with their numbers, and how much room they use. */
export function pinLines(pinned: readonly string[]): string[] {
  const lines = pinned.flatMap((text, at) => {
    const first = `${at + 1}. `
    return visibleText(text)
      .split('\n')
      .map((line, row) => `${row === 0 ? first : ' '.repeat(first.length)}${line}`)
  })
  return [...lines, pinsUsed(pinned)]
}

export function pinsUsed(pinned: readonly string[]): string {
  const bytes = pinned.reduce((sum, one) => sum + Buffer.byteLength(one), 0)
  const texts = countOf(pinned.length, 'pinned text')
  return `${texts}, ${groupDigits(bytes)} of ${countOf(LIMITS.pinned_text_bytes, 'byte')}.`
}
