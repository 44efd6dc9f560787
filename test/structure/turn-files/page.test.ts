import { expect, test } from 'vitest'
import { pageOffences, stepsOf, turnPageIn } from './page.ts'

const PAGE = `# Architecture

| layer | \`src/log/append.ts\` |

## One Turn in two files

| | file | what happens there |
|---|---|---|
| 1 | \`src/turn/run.ts\` | calls \`src\` |
| 2 | \`src/log/append.ts\` | appends |

See \`src/turn/tries.ts\`.

### What a first reading can skip

| file | why |
|---|---|
| \`src/log/line.ts\`, \`src/log/head.ts\` | the format |

## Instances

| \`src/tether/tether.ts\` | other |
`

const lines = (count: number) => new Set(Array.from({ length: count }, (_, at) => at + 1))
const RAN = new Map([
  ['src/turn/run.ts', lines(120)],
  ['src/log/append.ts', lines(30)],
  ['src/log/line.ts', lines(75)],
  ['src/log/head.ts', lines(1)],
  ['src/log/scan.ts', lines(25)],
  ['src/host/files/files.ts', lines(300)],
])

test('the page has the steps of a Turn in one table, and what they rest on in another', () => {
  expect(turnPageIn(PAGE)).toEqual({
    steps: ['src/turn/run.ts', 'src/log/append.ts'],
    rest: ['src/log/line.ts', 'src/log/head.ts'],
  })
})

test('a page that names every file with more than 25 executed lines, and only files that ran, is right', () => {
  expect(pageOffences(turnPageIn(PAGE), RAN)).toEqual([])
  expect(stepsOf(RAN).map(([path, count]) => `${count} ${path}`)).toEqual([
    '120 src/turn/run.ts',
    '75 src/log/line.ts',
    '30 src/log/append.ts',
  ])
})

test.each([
  ['src/log/scan.ts', 26, 'src/log/scan.ts ran 26 lines, and the page does not name it'],
  ['src/log/head.ts', 0, 'the page names src/log/head.ts, of which nothing ran'],
  ['src/log/line.ts', 76, 'src/log/line.ts ran 76 lines, too many to skip it; list it as a step'],
])('%s with %i executed lines makes the page wrong', (path, count, offence) => {
  expect(pageOffences(turnPageIn(PAGE), new Map([...RAN, [path, lines(count)]]))).toEqual([offence])
})

test('there are at most 18 steps, each named once', () => {
  const steps = Array.from({ length: 19 }, (_, at) => `src/turn/step-${at}.ts`)
  const executed = new Map(steps.map((path) => [path, lines(50)]))
  expect(pageOffences({ steps, rest: [] }, executed)).toEqual([
    'the page lists 19 files of the steps, more than 18',
  ])
  const [first = ''] = steps
  expect(
    pageOffences({ steps: steps.slice(0, 18), rest: [first, ...steps.slice(18)] }, executed),
  ).toEqual([`the page names ${first} twice`])
})
