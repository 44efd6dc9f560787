import { expect, test } from 'vitest'
import { random, type Random } from '../../../test/support/host/random.ts'
import { wrongRich, wrongText } from '../../../test/support/telegram/message-rules.ts'
import { stepsOf, type AnswerStep, type EndFrame } from './answer-steps.ts'

function done(text: string, images = 0): EndFrame {
  const image = { media_type: 'image/png', blob: `${'a'.repeat(64)}.png`, size: 1 } as const
  return {
    v: 1,
    type: 'assistant.done',
    ts: '2026-01-01T00:00:00.000Z',
    session: { channel: 'telegram', id: '42' },
    msg_id: 'm',
    in_reply_to: 'n',
    seq: 1,
    payload: { text, status: 'completed', images: Array.from({ length: images }, () => image) },
  }
}

/** What Telegram would refuse, as the double of its API judges. */
function refusals(steps: readonly AnswerStep[]): readonly string[] {
  return steps.flatMap((step) => {
    if (step.kind === 'rich') return wrongRich({ blocks: step.blocks }) ?? []
    const { text, most } =
      step.kind === 'text' ? { ...step, most: 4_096 } : { text: step.caption, most: 1_024 }
    if (text === undefined) return []
    return wrongText(text.text, text.entities, { least: 1, most }) ?? []
  })
}

function sentText(steps: readonly AnswerStep[]): string {
  return steps.flatMap((step) => (step.kind === 'text' ? [step.text.text] : [])).join('\n')
}

const PIECES = [
  'word',
  '👩‍👩‍👧‍👦',
  '𝒳𝒴',
  'ß',
  '漢字',
  '**',
  '*',
  '`',
  '```\n',
  '```ts\n',
  '~~',
  '> ',
  '- ',
  '1. ',
  '# ',
  '[x](http://a.example)',
  '| a | b |\n|---|---|\n| 1 | 2 |\n',
  '\n',
  '\n\n',
  '    ',
  '<b>',
  '_',
  '\ud800',
  '\u202e',
  '\r',
  '\\',
] as const

function markdown(chance: Random): string {
  const count = 1 + chance.below(800)
  let text = ''
  for (let at = 0; at < count; at++)
    text += `${chance.pick(PIECES)}${chance.below(3) === 0 ? ' ' : ''}`
  return text
}

test('whatever the Markdown, no message is refused, and no formatting is cut off or overlaps', () => {
  const chance = random(7)
  for (let round = 0; round < 60; round++) {
    const text = markdown(chance)
    for (const rich of [true, false])
      for (const images of [0, 1])
        expect([round, ...refusals(stepsOf(done(text, images), rich))]).toEqual([round])
  }
})

test.each([
  ['quotes in quotes', '> '.repeat(20_000)],
  ['lists in lists', Array.from({ length: 500 }, (_, at) => `${'  '.repeat(at)}- x`).join('\n')],
  ['open brackets', '['.repeat(50_000)],
  ['open emphasis', '**a '.repeat(20_000)],
  ['backticks', '`'.repeat(50_000)],
  ['pipes', '|'.repeat(50_000)],
  ['one word', 'x'.repeat(120_000)],
  ['pairs', '😀'.repeat(30_000)],
  ['short paragraphs', 'a\n\n'.repeat(10_000)],
  ['much formatting', '**a** '.repeat(20_000)],
  ['an open block of code', `\`\`\`\n${'line\n'.repeat(20_000)}`],
])('%s are rendered, and nothing is refused', (_, text) => {
  for (const rich of [true, false]) expect(refusals(stepsOf(done(text), rich))).toEqual([])
})

test.each([
  ['words', Array.from({ length: 4_000 }, (_, at) => `word${at}`)],
  ['characters of two units', Array.from({ length: 4_000 }, (_, at) => `😀${at}`)],
])('long text of %s is split between them, and none is lost', (_, words) => {
  const steps = stepsOf(done(words.join(' ')), false)
  expect(steps.length).toBeGreaterThan(5)
  expect(refusals(steps)).toEqual([])
  expect(sentText(steps).split(/\s+/)).toEqual(words)
})

test('code that is split keeps its lines, their indentation, and its language in every message', () => {
  const lines = Array.from({ length: 900 }, (_, at) => `${'  '.repeat(at % 5)}call(${at}) // 😀`)
  const steps = stepsOf(done(`\`\`\`ts\n${lines.join('\n')}\n\`\`\``), false)
  expect(steps.length).toBeGreaterThan(3)
  for (const step of steps)
    expect(step).toMatchObject({
      kind: 'text',
      text: { entities: [{ type: 'pre', offset: 0, language: 'ts' }] },
    })
  expect(sentText(steps).split('\n')).toEqual(lines)
})

test('a caption is measured after parsing, in UTF-16 units', () => {
  const kinds = (text: string) => stepsOf(done(text, 1), false).map(({ kind }) => kind)
  expect(kinds(`**${'x'.repeat(1_024)}**`)).toEqual(['image'])
  expect(kinds('😀'.repeat(512))).toEqual(['image'])
  expect(kinds('😀'.repeat(513))).toEqual(['image', 'text'])
})
