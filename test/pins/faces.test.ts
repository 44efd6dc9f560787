import { describe, expect, test } from 'vitest'
import { eventNotices } from '../../src/history/results/event-notices.ts'
import { turnResult } from '../../src/history/results/turn-result.ts'
import type { EventDraft } from '../../src/model/events/event.ts'
import { SAMPLES } from '../support/history/every-event-data.ts'
import { FACES, TURN, turnWith } from '../support/history/faces.ts'
import { TOLD, TOLD_AT_END, type ToldCase } from '../support/history/told-events.ts'

const CASES: readonly ToldCase[] = [...Object.values(TOLD).flat(), TOLD_AT_END]

describe.each(Object.entries(FACES))('%s', (_name, face) => {
  test.each(CASES)('tells its person about $code', async ({ draft, mark }) => {
    const said = await face(turnWith(draft))
    expect(said.map(({ text }) => text).join('\n')).toContain(mark)
  })

  test('says nothing of the kind about a Turn without it', async () => {
    const quiet: EventDraft = { type: 'provider_usage', data: SAMPLES.provider_usage }
    const said = (await face(turnWith(quiet))).map(({ text }) => text).join('\n')
    for (const { mark } of CASES) expect(said).not.toContain(mark)
  })
})

test.each(['chat', 'run', 'hawser instance'] as const)(
  'a name with a line break forges no line of %s',
  async (name) => {
    const path = '.github/workflows/a\nhawser: nothing changed.yml'
    const { draft } = TOLD_AT_END
    const data = { ...draft.data, runs_later: [path] }
    const said = await FACES[name](turnWith({ ...draft, data } as EventDraft))
    const lines = said.flatMap(({ text }) => text.split('\n'))
    expect(lines.join('')).toContain('nothing changed.yml')
    expect(lines.filter((line) => line.startsWith('hawser: nothing'))).toEqual([])
  },
)

test.each(CASES)('the result of a Turn contains $code once', ({ code, draft }) => {
  const { notices } = turnResult(turnWith(draft), TURN)
  expect(notices.map((one) => one.code)).toEqual([code])
})

test.each(Object.entries(TOLD).filter(([, cases]) => cases.length === 0))(
  'nothing must be reported about %s',
  (type) => {
    const sample = Object.entries(SAMPLES).find(([name]) => name === type)
    const [event] = turnWith({ type, data: sample?.[1] } as EventDraft).slice(-2)
    if (event === undefined) throw new Error('no Event')
    expect(eventNotices(event)).toEqual([])
  },
)
