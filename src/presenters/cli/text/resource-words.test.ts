import { expect, test } from 'vitest'
import { sampleEvents } from '../../../../test/support/history/sample-events.ts'
import { refusalWords, resourceNews, resourceWords } from './resource-words.ts'

const { descriptors } = sampleEvents()

test('a Resource is described in one line, with its name escaped', () => {
  expect(descriptors.map(resourceWords)).toEqual([
    String.raw`@img1 a\u{a}b.png · 12.1 KiB · 3×2`,
    '@pdf2 c.pdf · 12.1 KiB · 4 pages',
    '@txt3 d.txt · 12.1 KiB · 9 lines',
    `@file5 ${'x'.repeat(600)} · 12.1 KiB · stored, never sent to a model`,
    expect.stringMatching(/^@link4 https:\/\/\S+ · a link, not fetched$/),
    '@link5 e · a link, not copied: it does not exist',
  ])
})

test('a refusal is shown with its reason', () => {
  expect(refusalWords({ name: 'a\u001b[2J.zip', reason: 'not a type' })).toBe(
    String.raw`✗ a\u{1b}[2J.zip: not a type`,
  )
})

test('a change of a Resource is described with its handle', () => {
  const [image] = descriptors
  const about = sampleEvents().resource_view.map((event) => resourceNews(event, () => image))
  expect(about.filter((news) => !/^@img1.* (is|cannot be) /.test(news))).toEqual([])
  expect(about.length).toBeGreaterThan(3)
})
