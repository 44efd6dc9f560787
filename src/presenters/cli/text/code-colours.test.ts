import { expect, test } from 'vitest'
import { paintLine, type Line } from './cell-width.ts'
import { codeBegun, codeLine, loadCodeColours } from './code-colours.ts'
import { MarkdownStream } from './markdown.ts'

await loadCodeColours()

test('keywords, strings, numbers, names and comments have colours', () => {
  expect(coloured('ts', "const a = f('x', 1) // b")).toEqual([
    'const:magenta',
    ' a = ',
    'f:blue',
    '(',
    "'x':green",
    ', ',
    '1:yellow',
    ') ',
    '// b:dim',
  ])
})

test('what goes over several lines keeps its colour, also when it is very long', () => {
  const comment = ['/*', ...Array<string>(200).fill('a rope'), '*/ const b']
  const lines = comment.map((_, at) => coloured('ts', comment.slice(0, at + 1).join('\n')))
  expect(lines[1]).toEqual(['a rope:dim'])
  expect(lines[200]).toEqual(['a rope:dim'])
  expect(lines[201]).toEqual(['*/:dim', ' ', 'const:magenta', ' b'])
})

test('an unknown language is plain, and no character is lost or changed', () => {
  expect(coloured('harbour', 'const <a> & "b"')).toEqual(['const <a> & "b"'])
  for (const language of ['ts', 'html', 'sh', 'diff', 'yaml'])
    expect(textOf(shown(language, '<a b="c">&amp; \'d\'\t$(e) `f')), language).toBe(
      '<a b="c">&amp; \'d\'\t$(e) `f',
    )
})

test('code has the same colours however it is streamed', () => {
  const text =
    '```ts\nconst a = `b\n ${c} d`\n/* e\n  f */ return 1\n```\n\n~~~python\ndef g():\n  """h\n  i"""\n~~~\n'
  const whole = streamed([text])
  expect(whole.join('\n')).toContain('\u001b[')
  for (let at = 0; at <= text.length; at += 1)
    expect(streamed([text.slice(0, at), text.slice(at)])).toEqual(whole)
  expect(streamed(Array.from(text))).toEqual(whole)
})

test('a very long line is plain: it would take long', () => {
  expect(coloured('js', `const a = ${'x'.repeat(5_000)}`).length).toBe(1)
})

/** The last line of a code. */
function shown(language: string, code: string): Line {
  let open = codeBegun(language)
  let last: Line = []
  for (const text of code.split('\n')) {
    const { line, open: next } = codeLine(text, open)
    open = next
    last = line
  }
  return last
}

function coloured(language: string, code: string): string[] {
  return shown(language, code).map(({ text, style }) => {
    const name = style.dim === true ? 'dim' : style.colour
    return name === undefined ? text : `${text}:${name}`
  })
}

function textOf(line: Line): string {
  return line.map(({ text }) => text).join('')
}

function streamed(pieces: readonly string[]): string[] {
  const stream = new MarkdownStream(60)
  const lines = [...pieces.flatMap((piece) => stream.push(piece)), ...stream.end()]
  return lines.map((line) => paintLine(line, true))
}
