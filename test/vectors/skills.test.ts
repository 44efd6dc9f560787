import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { expect, test } from 'vitest'
import { parseSkill } from '../../src/skills/front-matter.ts'

/** A SKILL.md in the folder `review`, and what it is parsed to. */
const Vectors = z.array(
  z.strictObject({
    title: z.string(),
    text: z.string(),
    /** Absent if the Skill is not usable. */
    fields: z.record(z.string(), z.unknown()).optional(),
    /** `about` is a part of the message. */
    findings: z.array(
      z.strictObject({
        severity: z.enum(['error', 'warning']),
        line: z.int(),
        about: z.string(),
      }),
    ),
  }),
)

const file = new URL('skills.json', import.meta.url)
const vectors = Vectors.parse(JSON.parse(readFileSync(file, 'utf8')))

test.each(vectors)('$title', ({ text, fields, findings }) => {
  const parsed = parseSkill(Buffer.from(text), 'review')
  const found = parsed.findings.map(({ severity, line }) => ({ severity, line }))
  expect(found, JSON.stringify(parsed.findings)).toEqual(
    findings.map(({ severity, line }) => ({ severity, line })),
  )
  for (const [at, { about }] of findings.entries()) {
    expect(parsed.findings[at]?.message).toContain(about)
  }
  expect(parsed.fields).toEqual(fields)
})
