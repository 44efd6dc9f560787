import { beforeAll, describe, expect, test } from 'vitest'
import { FINISHED_OWNERS, REQUIREMENTS, type Requirement } from '../requirements.ts'
import { OWNERS } from '../requirements/requirement.ts'
import { citationOffences, mayCite } from '../support/citations.ts'
import { readTree } from './tree.ts'

const ID = /^(SR|TI|PC|SH|AT)-\d{3}$/
const SECTION = String.raw`[A-Za-z0-9]+([.-][A-Za-z0-9]+)*`
const SOURCE = new RegExp(
  `^(session-resources|tether-images|prompt-contract|skill-hydration|attachments):${SECTION}(,${SECTION})*$`,
)
const LABELS: Readonly<Record<string, string>> = {
  SR: 'session-resources',
  TI: 'tether-images',
  PC: 'prompt-contract',
  SH: 'skill-hydration',
  AT: 'attachments',
}

describe('the list of requirements', () => {
  test('every id is well-formed and unique', () => {
    const ids = REQUIREMENTS.map(({ id }) => id)
    expect(ids.filter((id) => !ID.test(id))).toEqual([])
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
  })

  test('every row has its own text', () => {
    const texts = REQUIREMENTS.map(({ text }) => text)
    expect(texts.filter((text) => text.trim() === '')).toEqual([])
    expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([])
  })

  test('a ruling is absent or not empty', () => {
    expect(REQUIREMENTS.filter(({ ruling }) => ruling?.trim() === '')).toEqual([])
  })

  test('every row has a known owner', () => {
    expect(REQUIREMENTS.filter(({ owner }) => !OWNERS.includes(owner))).toEqual([])
  })

  test('every source is a document label with sections, not a path', () => {
    const sources = REQUIREMENTS.map(({ source }) => source)
    expect(sources.filter((source) => !SOURCE.test(source) || source.includes('/'))).toEqual([])
  })

  test('the letters of an id identify the document of its source', () => {
    const strays = REQUIREMENTS.filter(
      ({ id, source }) => LABELS[id.slice(0, 2)] !== source.split(':')[0],
    )
    expect(strays).toEqual([])
  })
})

describe('the tests of this repository', () => {
  let offences: ReturnType<typeof citationOffences>
  beforeAll(async () => {
    const files = [...(await readTree())].map(([path, text]) => ({ path, text }))
    offences = citationOffences(REQUIREMENTS, FINISHED_OWNERS, files)
  })

  test('cite every requirement of a finished owner', () => {
    const list = offences.uncited.join('\n')
    expect(offences.uncited, `no test cites these:\n${list}`).toEqual([])
  })

  test('cite no id that does not exist', () => {
    expect(offences.unknown).toEqual([])
  })
})

describe('the check of citations', () => {
  const rows: readonly Requirement[] = [
    { id: 'TI-901', source: 'tether-images:1', owner: 'foundations', text: 'is cited' },
    { id: 'TI-902', source: 'tether-images:2', owner: 'foundations', text: 'is forgotten' },
    { id: 'TI-903', source: 'tether-images:3', owner: 'later', text: 'may wait' },
  ]

  test('names an uncited id of a finished owner and an unknown id', () => {
    const files = [
      { path: 'src/blobs/put.test.ts', text: `test('keeps bytes [TI-901]', () => {})` },
      { path: 'test/faults/put.ts', text: '// [TI-999] and [TI-90]' },
    ]
    expect(citationOffences(rows, ['foundations'], files)).toEqual({
      uncited: ['TI-902 is forgotten'],
      unknown: ['test/faults/put.ts cites TI-999', 'test/faults/put.ts cites TI-90'],
    })
  })

  test('requires nothing of an unfinished owner', () => {
    expect(citationOffences(rows, [], [])).toEqual({ uncited: [], unknown: [] })
  })

  test('does not count an id without brackets as a citation', () => {
    const files = [{ path: 'src/blobs/put.test.ts', text: 'TI-901 TI-902 (TI-999)' }]
    expect(citationOffences(rows, ['foundations'], files)).toEqual({
      uncited: ['TI-901 is cited', 'TI-902 is forgotten'],
      unknown: [],
    })
  })

  test('reads tests and the test folder, except the list and its own test', () => {
    const read = ['src/log/append.test.ts', 'test/faults/kill.ts', 'test/support/citations.ts']
    const ignored = [
      'src/log/append.ts',
      'docs/requirements.md',
      'test/requirements.ts',
      'test/requirements/attachments.ts',
      'test/structure/requirements.test.ts',
    ]
    expect([...read, ...ignored].filter(mayCite)).toEqual(read)
  })
})
