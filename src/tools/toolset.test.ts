import { expect, test } from 'vitest'
import { canonicalJson } from '../encoding/json.ts'
import { SKILL_TOOLS, TOOLSET, toolSchemas, toolset } from './toolset.ts'

test('tools are sorted by name, and each name occurs once', () => {
  const names = TOOLSET.map(({ name }) => name)
  expect(names).toEqual([...new Set(names)].toSorted())
})

test('schemas have the same canonical bytes whatever the order of the tools', () => {
  const bytes = JSON.stringify(toolSchemas(TOOLSET))
  expect(JSON.stringify(toolSchemas(TOOLSET.toReversed()))).toBe(bytes)
  for (const { parameters } of toolSchemas(TOOLSET)) {
    expect(JSON.stringify(parameters)).toBe(canonicalJson(parameters))
    expect(parameters).toMatchObject({ type: 'object', additionalProperties: false })
    expect(parameters).not.toHaveProperty('$schema')
    expect(canonicalJson(parameters)).not.toContain(String(Number.MAX_SAFE_INTEGER))
  }
})

test('a schema has exactly this form', () => {
  const read = toolSchemas(TOOLSET).find(({ name }) => name === 'read')
  expect(read?.parameters).toEqual({
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Path of a file or folder, relative to the workspace.' },
      from_line: {
        type: 'integer',
        description: 'First line. Default: 1.',
      },
      to_line: {
        type: 'integer',
        description: 'Last line, included. Default: the end.',
      },
    },
    required: ['path'],
    additionalProperties: false,
  })
})

test('the tools for Skills are apart, small, and always callable', () => {
  const names = SKILL_TOOLS.map(({ name }) => name)
  expect(names).toEqual(['hydrate_context', 'skill_view'])
  expect(TOOLSET.filter(({ name }) => names.includes(name))).toEqual([])
  expect(names.filter((name) => !toolset().has(name))).toEqual([])
  // Four bytes are about one token; 330 tokens are the limit.
  expect(JSON.stringify(toolSchemas(SKILL_TOOLS)).length / 4).toBeLessThan(330)
})
