import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Harness } from '../../../src/session/harness.ts'
import type { StoryModel } from './long-story.ts'
import { value } from '../log/story.ts'
import { filler, say } from './talk.ts'

const FACTS = 100
const TURNS = 300
const CHECKPOINTS = 10

const FIRST = [
  'Silver',
  'Northern',
  'Quiet',
  'Amber',
  'Iron',
  'Distant',
  'Bright',
  'Hollow',
  'Pale',
  'Swift',
]
const SECOND = [
  'Heron',
  'Lantern',
  'Anchor',
  'Harbour',
  'Current',
  'Compass',
  'Gull',
  'Beacon',
  'Tide',
  'Keel',
]

/** A ship that one Turn tells the berth of, and later Turns only mention. */
interface Fact {
  readonly ship: string
  readonly berth: string
}

function fact(n: number): Fact {
  const ship = `${FIRST[n % 10]} ${SECOND[Math.floor(n / 10)]}`
  return { ship, berth: `${'ABCDEFG'[n % 7]}-${((n * 7919) % 9000) + 1000}` }
}

const ALL = Array.from({ length: FACTS }, (_, n) => fact(n))

/** A third of the facts is stated by the person, a third by a tool, and a third by the model. */
function told(n: number): { message: string; file: string; answer: string } {
  const at = Math.floor(n / 3)
  const planted = n % 3 === 0 ? ALL[at] : undefined
  const says = planted === undefined ? '' : tells(planted)
  const others = [at - 5, at - 17, at - 40].flatMap((one) => ALL[one]?.ship ?? [])
  const passing = others.map((ship) => `The ${ship} was seen again.`).join(' ')
  return {
    message: `Turn ${n}. ${at % 3 === 0 ? says : ''}\n${filler('small talk', 1_500)}`,
    file: `${filler(`log ${n}`, 2_000)}${at % 3 === 1 ? `${says}\n` : ''}${passing}\n`,
    answer: `${at % 3 === 2 ? says : ''} ${filler('an answer', 800)}`,
  }
}

/** What a model can still answer, and what it costs. */
export interface Recall {
  readonly facts: number
  readonly checkpoints: number
  readonly retained_tokens: number
  /** Facts that the next request contains; that one search for the ship finds; and either. */
  readonly from_request: number
  readonly by_search: number
  readonly answerable: number
}

/** Tells facts over 300 Turns with ten checkpoints, and then searches for each of them once. */
export async function recall(
  { harness, workspace }: { readonly harness: Harness; readonly workspace: string },
  model: StoryModel,
): Promise<Recall> {
  const session = value(await harness.create({ provider: 'story', model: 'story' }))
  const ends = new Set<string>()
  let checkpoints = 0
  for (let n = 0; n < TURNS; n += 1) {
    const { message, file, answer } = told(n)
    await writeFile(join(workspace, 'log.txt'), file)
    model.play([{ name: 'read', args: { path: 'log.txt' } }], answer)
    ends.add(await say(session, message))
    if ((n + 1) % (TURNS / CHECKPOINTS) !== 0) continue
    if (value(await session.compact()).compactable) checkpoints += 1
  }
  const { body } = value(await session.preview(''))
  const context = body.toString('utf8')
  const fromRequest = ALL.filter(({ berth }) => context.includes(berth))
  const bySearch: Fact[] = []
  for (let at = 0; at < FACTS; at += ASKED_AT_ONCE) {
    const asked = ALL.slice(at, at + ASKED_AT_ONCE)
    const before = session.nextSeq
    const searches = asked.map(({ ship }) => ({ name: 'history_search', args: { query: ship } }))
    model.play(searches, 'Found.')
    ends.add(await say(session, 'Where are they?'))
    const outputs = session.events.flatMap((e) =>
      e.type === 'tool_result' && e.seq >= before ? [e.data.output] : [],
    )
    bySearch.push(...asked.filter((one) => outputs.some((output) => output.includes(tells(one)))))
  }
  if ([...ends].join() !== 'completed') throw new Error(`Turns ended ${[...ends].join()}`)
  return {
    facts: FACTS,
    checkpoints,
    retained_tokens: Math.ceil(body.length / 4),
    from_request: fromRequest.length,
    by_search: bySearch.length,
    answerable: new Set([...fromRequest, ...bySearch]).size,
  }
}

const ASKED_AT_ONCE = 10

function tells({ ship, berth }: Fact): string {
  return `The berth of the ${ship} is ${berth}.`
}
