import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { mayNameSkills, skillsNamed, slashName } from './skill-words.ts'

const KNOWN = [
  { name: 'review', trust: 'user' },
  { name: 'code-review', trust: 'trusted' },
  { name: 'v2.1', trust: 'user' },
  { name: 'help', trust: 'user' },
  { name: 'stranger', trust: 'untrusted' },
] as const

function skillsIn(text: string) {
  const named = skillsNamed(text, KNOWN, ['help'])
  return named.ok ? named.value.skills : named.error.message
}

test.each([
  ['/review', [{ name: 'review' }]],
  ['/review the last commit', [{ name: 'review', args: 'the last commit' }]],
  ['/review\nthe last\ncommit ', [{ name: 'review', args: 'the last\ncommit' }]],
  ['/code-review', [{ name: 'code-review' }]],
  ['/v2.1 now', [{ name: 'v2.1', args: 'now' }]],
  ['/review --with changes', [{ name: 'review', with: [{ id: 'changes' }] }]],
  [
    '/review  --with changes   --with log:count=5,since=main  is it  good?',
    [
      {
        name: 'review',
        args: 'is it  good?',
        with: [{ id: 'changes' }, { id: 'log', args: { count: '5', since: 'main' } }],
      },
    ],
  ],
  [
    String.raw`/review --with log:a="x, y: \"z\" \\",b= ok`,
    [{ name: 'review', args: 'ok', with: [{ id: 'log', args: { a: 'x, y: "z" \\', b: '' } }] }],
  ],
  [
    '/review --with log:path=a/b:c=d',
    [{ name: 'review', with: [{ id: 'log', args: { path: 'a/b:c=d' } }] }],
  ],
  [
    '/review --with log:a="two\nlines"',
    [{ name: 'review', with: [{ id: 'log', args: { a: 'two\nlines' } }] }],
  ],
  // Options come first; what follows is as typed.
  ['/review is --with text', [{ name: 'review', args: 'is --with text' }]],
  ['/review -- --with text', [{ name: 'review', args: '--with text' }]],
  ['/review --within reason', [{ name: 'review', args: '--within reason' }]],
  ['/review $(rm -rf ~); `id`', [{ name: 'review', args: '$(rm -rf ~); `id`' }]],
  // A Skill that is not trusted is refused when it is activated.
  ['/stranger', [{ name: 'stranger' }]],
  // Commands win, and other words are text.
  ['/help', []],
  ['/nothing at all', []],
  ['/etc/hosts', []],
  ['/review/a.ts', []],
  [' /review', []],
  ['//review', []],
  ['/', []],
  ['Use $review on this', [{ name: 'review' }]],
  ['$review, $code-review and $review', [{ name: 'review' }, { name: 'code-review' }]],
  ['Try ($review).', [{ name: 'review' }]],
  ['Is it $v2.1? Or $v2.1...', [{ name: 'v2.1' }]],
  ['Run $help', [{ name: 'help' }]],
  [
    '/review with $code-review',
    [{ name: 'review', args: 'with $code-review' }, { name: 'code-review' }],
  ],
  ['/review and $review', [{ name: 'review', args: 'and $review' }]],
  ['$reviews, $HOME, $100, a$review, $$review, $', []],
  ['$stranger', []],
  ['', []],
  ['/review --with', '/review: --with needs the id of a context source.'],
  ['/review --with :a=b', '/review: --with needs the id of a context source.'],
  ['/review --with log:', '/review: expected PARAMETER=VALUE after :.'],
  ['/review --with log:a', '/review: expected PARAMETER=VALUE after :.'],
  ['/review --with log:a=1,', '/review: expected PARAMETER=VALUE after ,.'],
  ['/review --with log:a="open', '/review: unexpected ".'],
  ['/review --with log:a="x"y', '/review: unexpected y.'],
  ['/review --with a,b', '/review: unexpected ,.'],
  ['/review --with log:a=1,a=2', '/review: the parameter a occurs twice.'],
])('%j names these Skills', (text, expected) => {
  expect(skillsIn(text)).toEqual(expected)
})

test('a mentioned Skill that is not trusted is named with the next step', () => {
  const named = skillsNamed('Use $stranger, $stranger.', KNOWN, [])
  expect(named).toEqual({
    ok: true,
    value: { skills: [], notes: [expect.stringContaining('hawser skills trust stranger')] },
  })
})

test('any values come back from their quoted form', () => {
  const word = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/)
  const source = fc.record({
    id: word,
    args: fc.dictionary(word, fc.string(), { noNullPrototype: true }),
  })
  fc.assert(
    fc.property(fc.array(source, { maxLength: 3 }), fc.string(), (sources, typed) => {
      const quoted = (value: string) => `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`
      const options = sources.map(({ id, args }) => {
        const values = Object.entries(args).map(([name, value]) => `${name}=${quoted(value)}`)
        return `--with ${id}${values.length === 0 ? '' : `:${values.join(',')}`}`
      })
      const text = ['/review', ...options, '--', typed].join(' ')
      const args = typed.trim()
      expect(skillsNamed(text, [KNOWN[0]], [])).toEqual({
        ok: true,
        value: {
          notes: [],
          skills: [
            {
              name: 'review',
              ...(args === '' ? {} : { args }),
              ...(sources.length === 0
                ? {}
                : {
                    with: sources.map(({ id, args: given }) =>
                      Object.keys(given).length === 0 ? { id } : { id, args: given },
                    ),
                  }),
            },
          ],
        },
      })
    }),
  )
})

test('any text is read without an exception, and names only Skills that exist', () => {
  fc.assert(
    fc.property(fc.string(), (rest) => {
      for (const text of [rest, `/${rest}`, `$${rest}`, `/review --with ${rest}`]) {
        const named = skillsNamed(text, KNOWN, ['help'])
        if (!named.ok) continue
        for (const { name } of named.value.skills)
          expect(KNOWN.some((one) => one.name === name)).toBe(true)
        if (named.value.skills.length > 0) expect(mayNameSkills(text)).toBe(true)
      }
    }),
  )
})

test('the name after a slash is known before its Skill', () => {
  expect(['/a-b c', '/a/b', 'a', '/a.b', '/Ä'].map(slashName)).toEqual([
    'a-b',
    undefined,
    undefined,
    'a.b',
    undefined,
  ])
})
