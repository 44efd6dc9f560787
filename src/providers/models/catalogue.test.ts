import { expect, test } from 'vitest'
import { ModelFacts } from '../../model/model-facts.ts'
import { catalogue } from './catalogue.ts'
import { AS_OF, SOURCES, TABLE } from './table.ts'

const rows = catalogue({}).rows()
const named = rows.map((row) => [`${row.provider}/${row.id}`, row] as const)

test.each(named)('%s has valid facts, each with a source that can be looked up', (_, row) => {
  expect(ModelFacts.parse(row.facts)).toEqual(row.facts)
  expect(Object.keys(row.sources).toSorted()).toEqual(Object.keys(row.facts).toSorted())
  const known = new Set(Object.keys(SOURCES))
  expect(Object.values(row.sources).filter((source) => !known.has(source))).toEqual([])
})

test.each(named)('%s has the facts that a request requires', (_, { facts }) => {
  const needed = [
    'window_tokens',
    'output_tokens',
    'images',
    'files',
    'late_role',
    'prices',
  ] as const
  expect(needed.filter((name) => facts[name] === undefined)).toEqual([])
})

test('no two sources give the same fact of a model', () => {
  for (const { id, sources: sourced } of TABLE) {
    const names = sourced.flatMap(({ facts }) => Object.keys(facts))
    expect([id, names.length]).toEqual([id, new Set(names).size])
  }
})

test('a model is in the table once per provider, and every provider has one default', () => {
  expect(new Set(named.map(([name]) => name)).size).toBe(rows.length)
  const defaults = rows.flatMap((row) => (row.default ? [[row.provider, row.id]] : []))
  expect(defaults).toEqual([
    ['anthropic', 'claude-opus-5-5'],
    ['openai', 'gpt-6-astra'],
    ['openai-chat', 'gpt-5.2'],
  ])
  const { defaultOf, providers } = catalogue({})
  expect(providers).toEqual(defaults.map(([provider]) => provider))
  expect(defaults.map(([provider = '']) => defaultOf(provider))).toEqual(
    defaults.map(([, id]) => id),
  )
})

test('every source is used, and the table is dated', () => {
  const used = new Set(rows.flatMap(({ sources }) => Object.values(sources)))
  const unused = Object.keys(SOURCES).filter((name) => !used.has(name))
  expect(unused).toEqual(['settings'])
  expect(new Date(AS_OF).toISOString()).toBe(`${AS_OF}T00:00:00.000Z`)
})

test('nothing is guessed about an unknown model', () => {
  const { factsOf, defaultOf } = catalogue({})
  expect(factsOf('anthropic', 'claude-opus-5-5-20991231')).toBeUndefined()
  expect(factsOf('openai', 'claude-opus-5-5')).toBeUndefined()
  expect(factsOf('anthropic', 'toString')).toBeUndefined()
  expect(defaultOf('rehearsal')).toBeUndefined()
  expect(defaultOf('__proto__')).toBeUndefined()
})

test('settings change single facts of a model at every provider, and are marked as such', () => {
  const { rows: all, factsOf } = catalogue({ 'gpt-5.2': { window_tokens: 8, images: false } })
  const plain = rows.filter(({ id }) => id === 'gpt-5.2')
  expect(plain.map(({ provider }) => provider)).toEqual(['openai', 'openai-chat'])
  expect(all().filter(({ id }) => id === 'gpt-5.2')).toEqual(
    plain.map((row) => ({
      ...row,
      facts: { ...row.facts, window_tokens: 8, images: false },
      sources: { ...row.sources, window_tokens: 'settings', images: 'settings' },
    })),
  )
  expect(factsOf('openai-chat', 'gpt-5.2')).toMatchObject({
    window_tokens: 8,
    output_tokens: 128_000,
  })
  expect(all().filter(({ id }) => id !== 'gpt-5.2')).toEqual(
    rows.filter(({ id }) => id !== 'gpt-5.2'),
  )
})

test('prices are one fact: setting some of them replaces all of them', () => {
  const { factsOf } = catalogue({ 'claude-opus-5-5': { prices: { input: 1 } } })
  expect(factsOf('anthropic', 'claude-opus-5-5')?.prices).toEqual({ input: 1 })
})

test('settings can add a model at any provider', () => {
  const own = { window_tokens: 32_768, files: false }
  const { rows: all, factsOf } = catalogue({ 'my-model': own })
  expect(all().slice(rows.length)).toEqual([
    {
      provider: 'any',
      id: 'my-model',
      default: false,
      facts: own,
      sources: { window_tokens: 'settings', files: 'settings' },
    },
  ])
  expect([...new Set(all('openai').map(({ provider }) => provider))]).toEqual(['openai', 'any'])
  expect([factsOf('openai-chat', 'my-model'), factsOf('anthropic', 'my-model')]).toEqual([own, own])
})
