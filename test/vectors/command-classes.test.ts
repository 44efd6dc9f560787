import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { looksReadOnly } from '../../src/policy/command-class.ts'

/** Wrappers with their option forms, commands that they start, and whole lines, with the class of each. */
const Vectors = z.object({
  inner: z.object({
    /** Only read whatever arguments are added. */
    anyArguments: z.array(z.string()),
    reading: z.array(z.string()),
    other: z.array(z.string()),
  }),
  wrappers: z.record(
    z.string(),
    z.object({ known: z.array(z.string()), unknown: z.array(z.string()) }),
  ),
  /** Programs that never count as reading, whatever they start. */
  never: z.record(z.string(), z.array(z.string())),
  commands: z.array(z.object({ command: z.string(), reads: z.boolean() })),
})

const file = new URL('command-classes.json', import.meta.url)
const { inner, wrappers, never, commands } = Vectors.parse(JSON.parse(readFileSync(file, 'utf8')))

interface Line {
  readonly command: string
  readonly reads: boolean
}

const STARTED: readonly (Line & { readonly any: boolean })[] = [
  ...inner.anyArguments.map((command) => ({ command, reads: true, any: true })),
  ...inner.reading.map((command) => ({ command, reads: true, any: false })),
  ...inner.other.map((command) => ({ command, reads: false, any: false })),
]

/** What starts with a redirection, an assignment or an operator is not one command for a wrapper. */
const WHOLE = STARTED.filter(({ command }) => !/^\w+=|[&>]/.test(command))

function wrapped(names: readonly string[], forms: readonly string[], one: (typeof STARTED)[number]): Line {
  const command = [...names.map((name, at) => [name, forms[at]].filter(Boolean).join(' ')), one.command].join(' ')
  return { command, reads: one.reads && (one.any || !names.includes('xargs')) }
}

/** All for the first form of a wrapper; for each other form, every seventh, and not always the same. */
function some(form: number): typeof WHOLE {
  return WHOLE.filter((_, at) => form === 0 || at % 7 === form % 7)
}

/** Every wrapper with every option form and commands of every class, and every pair of wrappers with some of them. */
function corpus(): Line[] {
  const known = Object.entries(wrappers).flatMap(([name, forms]) =>
    forms.known.flatMap((form, at) => some(at).map((one) => wrapped([name], [form], one))),
  )
  const unknown = Object.entries(wrappers).flatMap(([name, forms]) =>
    forms.unknown.flatMap((form) =>
      WHOLE.filter(({ any }) => any).map((one) => ({ ...wrapped([name], [form], one), reads: false })),
    ),
  )
  const nested = Object.entries(wrappers).flatMap(([outer, { known: outerForms }]) =>
    Object.entries(wrappers).flatMap(([name, forms]) =>
      forms.known.slice(0, 2).flatMap((form) =>
        some(7).map((one) =>
          wrapped([outer, name], [outerForms.at(-1) ?? '', form], one),
        ),
      ),
    ),
  )
  const refused = Object.entries(never).flatMap(([name, forms]) =>
    forms.flatMap((form) => WHOLE.map((one) => ({ ...wrapped([name], [form], one), reads: false }))),
  )
  return [...STARTED, ...commands, ...known, ...unknown, ...nested, ...refused]
}

const LINES = corpus()

function misjudged(judge: (command: string) => boolean): readonly string[] {
  return LINES.flatMap(({ command, reads }) => (judge(command) === reads ? [] : [command]))
}

test('a command only reads if what its wrappers start only reads', () => {
  expect(misjudged(looksReadOnly)).toEqual([])
  expect(LINES.length).toBeGreaterThan(5_000)
})

test('a judgement by the first word fails the corpus', () => {
  const naive = (command: string) =>
    command
      .split('|')
      .every((part) => /^(?:env|nice|xargs|ls|cat|find|sort|git)$/.test(part.trim().split(/\s+/)[0] ?? ''))
  expect(misjudged(naive)).toContain('env python3 x.py')
  expect(misjudged(naive).length).toBeGreaterThan(1_000)
})

test('a judgement that skips everything up to the first known program fails the corpus', () => {
  const naive = (command: string) => {
    const words = command.split(/\s+/)
    return looksReadOnly(words.slice(words.findIndex((word) => looksReadOnly(word))).join(' '))
  }
  expect(misjudged(naive).length).toBeGreaterThan(1_000)
})
