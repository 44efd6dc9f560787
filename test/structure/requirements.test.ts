import { beforeAll, describe, expect, test } from 'vitest'
import { PROGRESS, REQUIREMENTS, type Requirement } from '../requirements.ts'
import { DOCUMENTS, OWNERS } from '../requirements/requirement.ts'
import { citationOffences, mayCite, type CitingFile } from '../support/citations.ts'
import { readTree } from './tree.ts'

const ID = new RegExp(String.raw`^(${Object.keys(DOCUMENTS).join('|')})-\d{3}$`)
const SECTION = String.raw`[A-Za-z0-9]+([.-][A-Za-z0-9]+)*`
const SOURCE = new RegExp(`^(${Object.values(DOCUMENTS).join('|')}):${SECTION}(,${SECTION})*$`)
const LABELS: Readonly<Record<string, string>> = DOCUMENTS

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
  let files: readonly CitingFile[]
  let offences: ReturnType<typeof citationOffences>
  beforeAll(async () => {
    files = [...(await readTree())].map(([path, text]) => ({ path, text }))
    offences = citationOffences(REQUIREMENTS, PROGRESS, files)
  })

  test('cite every requirement of a finished owner', () => {
    const list = offences.uncited.join('\n')
    expect(offences.uncited, `no test cites these:\n${list}`).toEqual([])
  })

  test('cite no id that does not exist', () => {
    expect(offences.unknown).toEqual([])
  })

  test('cite no requirement of an owner that is only planned', () => {
    expect(offences.early).toEqual([])
  })

  test('leave a requirement open of each owner that is begun', () => {
    expect(offences.finished).toEqual([])
  })

  test('cite each id in square brackets of its own', () => {
    expect(offences.malformed).toEqual([])
  })

  test('would fail with one more row that they do not cite, and with one more unknown id', () => {
    const row = {
      id: 'TI-998',
      source: 'tether-images:1',
      owner: 'tether',
      text: 'Planted',
    } as const
    const planted = {
      path: 'src/blobs/put.test.ts',
      text: `test('keeps bytes [TI-999]', () => {})`,
    }
    expect(citationOffences([...REQUIREMENTS, row], PROGRESS, [...files, planted])).toEqual({
      ...offences,
      uncited: [...offences.uncited, 'TI-998 Planted'],
      unknown: [...offences.unknown, 'src/blobs/put.test.ts cites TI-999'],
    })
  })
})

describe('the check of citations', () => {
  const rows: readonly Requirement[] = [
    { id: 'TI-901', source: 'tether-images:1', owner: 'foundations', text: 'is cited' },
    { id: 'TI-902', source: 'tether-images:2', owner: 'foundations', text: 'is forgotten' },
    { id: 'TI-903', source: 'tether-images:3', owner: 'later', text: 'may wait' },
  ]
  const progress = { ...PROGRESS, foundations: 'finished', later: 'planned' } as const
  const none = { uncited: [], unknown: [], early: [], malformed: [], finished: [] }
  const uncited = ['TI-901 is cited', 'TI-902 is forgotten']
  const inTest = (text: string) => [{ path: 'src/blobs/put.test.ts', text }]

  test('names an uncited id of a finished owner and an unknown id', () => {
    const files = [
      ...inTest(`test('keeps bytes [TI-901]', () => {})`),
      { path: 'test/faults/put.ts', text: '// [TI-999] and [TI-90]' },
    ]
    expect(citationOffences(rows, progress, files)).toEqual({
      ...none,
      uncited: ['TI-902 is forgotten'],
      unknown: ['test/faults/put.ts cites TI-999', 'test/faults/put.ts cites TI-90'],
    })
  })

  test('requires nothing of an owner that is planned or begun', () => {
    for (const state of ['planned', 'begun'] as const)
      expect(citationOffences(rows, { ...progress, foundations: state }, [])).toEqual(none)
  })

  test('names a cited id of an owner that is planned, and not of one that is begun', () => {
    const files = inTest(`test('[TI-901] [TI-902] [TI-903]', () => {})`)
    const early = ['TI-903 may wait']
    expect(citationOffences(rows, progress, files)).toEqual({ ...none, early })
    expect(citationOffences(rows, { ...progress, later: 'begun' }, files)).toEqual({
      ...none,
      finished: ['later'],
    })
  })

  test('does not count an id without brackets as a citation', () => {
    const files = inTest('TI-901 TI-902 (TI-999)')
    expect(citationOffences(rows, progress, files)).toEqual({ ...none, uncited })
  })

  test.each(['[TI-901, TI-902]', '[TI-901 TI-902]', '[ti-901]', '[TI-901a]', '[see TI-901]'])(
    'names %s as a citation that does not count',
    (text) => {
      const files = inTest(`test('keeps bytes ${text}', () => {})`)
      const malformed = [`src/blobs/put.test.ts has ${text}`]
      expect(citationOffences(rows, progress, files)).toEqual({ ...none, uncited, malformed })
    },
  )

  test.each([
    '// [TI-901] [TI-902]',
    '/** [TI-901] [TI-902] */',
    ' * [TI-901] [TI-902]',
    `test.skip('[TI-901] [TI-902]', () => {})`,
    `test.todo('[TI-901] [TI-902]')`,
  ])('does not count the citations of a comment or of a test that does not run: %s', (text) => {
    expect(citationOffences(rows, progress, inTest(text))).toEqual({ ...none, uncited })
  })

  test('counts the citations of tests, suites and fault scripts, and of no other file', () => {
    const text = `test('[TI-901] [TI-902]', () => {})`
    const paths = ['src/a.test.ts', 'test/contract/port.ts', 'test/faults/kill.ts']
    for (const path of paths)
      expect(citationOffences(rows, progress, [{ path, text }])).toEqual(none)
    for (const path of ['test/support/scene.ts', 'src/a.ts'])
      expect(citationOffences(rows, progress, [{ path, text }])).toEqual({ ...none, uncited })
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
