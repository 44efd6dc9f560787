import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { hydratedText, skillsIndex } from './skills.ts'

const REVIEW = { name: 'review', description: 'Reviews a change.', when_to_use: 'Before a merge.' }

test('[PC-001] [PC-002] [PC-022] the index routes and nothing else, and does not depend on anything but the Skills', () => {
  const facts = { skills: [REVIEW, { name: 'notes', description: 'Takes notes.' }], untrusted: [] }
  const index = skillsIndex(facts, 8192)
  const [, about, ...entries] = index.split('\n')
  expect(entries).toEqual([
    '- review: "Reviews a change." When to use it: "Before a merge."',
    '- notes: "Takes notes."',
  ])
  expect(about).toContain('call skill_view with its name')
  expect(about).toContain('Do not list the Skills unless you are asked to.')
  expect(skillsIndex(structuredClone(facts), 8192)).toBe(index)
  // A body is not even accepted: unknown fields add nothing.
  const withBody = { ...REVIEW, body: 'Do this.' }
  expect(skillsIndex({ skills: [withBody], untrusted: [] }, 8192)).not.toContain('Do this.')
})

test('an index has whole entries within its limit, each on one line, and counts the rest', () => {
  const skill = fc.record({
    name: fc.stringMatching(/^[a-z]{1,64}$/),
    description: fc.string({ unit: 'binary', minLength: 1, maxLength: 1024 }),
  })
  const names = fc.array(fc.stringMatching(/^[a-z]{1,64}$/), { maxLength: 60 })
  fc.assert(
    fc.property(fc.array(skill, { maxLength: 60 }), names, (skills, untrusted) => {
      const index = skillsIndex({ skills, untrusted }, 8192)
      expect(Buffer.byteLength(index)).toBeLessThanOrEqual(8192)
      expect(index === '').toBe(skills.length + untrusted.length === 0)
      const lines = index.split('\n').slice(2)
      const entries = lines.filter((line) => line.startsWith('- '))
      const whole = new Set(skills.map((one) => skillsIndex({ skills: [one], untrusted: [] }, 1e6)))
      for (const entry of entries)
        expect([...whole].some((text) => text.endsWith(`\n${entry}`))).toBe(true)
      const listed = lines.find((line) => line.includes('not trusted'))?.split(': ')[1] ?? ''
      const named = listed === '' ? 0 : listed.split(', ').length
      const leftOut = Number(/lack of space: (\d+)/.exec(index)?.[1] ?? 0)
      expect(entries.length + named + leftOut).toBe(skills.length + untrusted.length)
    }),
  )
})

test('no text ends the fence around hydrated text', () => {
  const text = fc.string({ unit: fc.constantFrom('`', '\n', 'a', '~', '```', '````\n') })
  fc.assert(
    fc.property(text, (output) => {
      const lines = hydratedText('id', output).split('\n')
      const [, open = '', ...rest] = lines
      expect(open).toMatch(/^`{3,}$/)
      expect(rest.indexOf(open)).toBe(rest.length - 1)
      expect(output.includes(open)).toBe(false)
    }),
  )
})
