import { expect, test } from 'vitest'
import { pagesAsText } from './pages-as-text.ts'

const LARGE_LIMIT = 10_000

test('every page is under its number, and pages without words are named', () => {
  const { text, span } = pagesAsText(['one\ntwo', '', null], { from: 2, to: 4 }, 12, LARGE_LIMIT)
  expect(span).toEqual({ from: 2, to: 4 })
  expect(text.split('\n').slice(1)).toEqual([
    '[Page 2 of 12]',
    'one',
    'two',
    '[Page 3 of 12: no text found]',
    '[Page 4 of 12: cannot be read]',
    '',
  ])
})

test('the first line states that this is only text', () => {
  const { text } = pagesAsText(['one'], { from: 1, to: 1 }, 1, LARGE_LIMIT)
  expect(text).toBe(
    '[Text extracted from a PDF document of 1 page. Layout and pictures are not shown.]\n[Page 1 of 1]\none\n',
  )
})

test('complete pages are shown while there is room, and the last line names the others', () => {
  const pages = Array.from({ length: 9 }, () => 'x'.repeat(200))
  for (let most = 600; most <= 2400; most += 7) {
    const { text, span } = pagesAsText(pages, { from: 3, to: 11 }, 20, most)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(most)
    const whole = text.match(/^x{200}$/gm)?.length ?? 0
    expect(span).toEqual({ from: 3, to: 2 + whole })
    const left = span.to === 10 ? 'page 11' : `pages ${span.to + 1} to 11`
    if (span.to === 11) expect(text).toMatch(/x\n$/)
    else expect(text).toContain(`\n[Omitted: ${left}, because the limit is ${most} bytes`)
  }
})

test('the beginning of a first page that is too long is shown, without half a character', () => {
  for (const most of [700, 701, 702, 703]) {
    const long = 'ü🚢'.repeat(500)
    const { text, span } = pagesAsText([long, 'two'], { from: 1, to: 3 }, 3, most)
    expect(span).toEqual({ from: 1, to: 1 })
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(most)
    expect(text).not.toContain('\ufffd')
    expect(text).toContain('\n[Omitted: the rest of page 1 and pages 2 to 3, because')
  }
})

test('the notes have room whatever numbers they contain', () => {
  const [count, most] = [Number.MAX_SAFE_INTEGER, 700]
  const { text } = pagesAsText(['x'.repeat(1000)], { from: count - 9, to: count }, count, most)
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(most)
})
