import { asksWhatIsSeen } from './english/looking.ts'
import { phrase } from './english/words/phrase.ts'
import type { Call } from './english/reading.ts'
import type { Showing } from './english/words/shown-things.ts'
import type { RehearsalRequest } from './schema.ts'
import { spokenOf } from './sight-speech.ts'
import {
  findShown,
  notIn,
  shownIn,
  toldIn,
  type Looked,
  type Shown,
  type Sights,
  type Spoken,
  type Mention,
} from './sights.ts'
import * as speech from './speech.ts'
import { tasksOf, type Task } from './task.ts'
import { isBlank, understand, type Understanding } from './understand.ts'

/** What the model answers: some text, and the calls it wants made at once. */
export interface Thought {
  readonly text: string
  readonly calls: readonly Call[]
}

/**
 * The rehearsal model. It follows rules and reads nothing but the request, and what was seen of the bytes in it: the last thing
 * a person said, the tools on offer, and what has come back since. The same request gets the same answer. Pure.
 */
export function think(request: RehearsalRequest, sights: Sights = new Map()): Thought {
  const current = currentTask(request)
  const stage = stageOf(current)
  const { made, tools } = current.task
  const spoken = spokenOf(lookedAt(current, stage), sights, tools)
  const notes = [...stage.absent.map(speech.notOffered), ...current.missing]
  switch (stage.at) {
    case 'idle':
      return say(idle(current, spoken))
    case 'first':
      return say(
        [...spoken.sentences, speech.announce(stage.next, notes, 'first')].join(' '),
        stage.next,
      )
    case 'later':
      return say(speech.announce(stage.next, [], 'later'), stage.next)
    case 'stopped':
      return say(speech.stopped(made, stage.left, spoken.sentences))
    case 'done':
      return say(speech.report(made, [...notes, ...spoken.sentences]))
  }
}

/** What has to be looked at before `think` is asked. Everything else may stay unseen. Pure. */
export function toBeSeen(request: RehearsalRequest): readonly Shown[] {
  if (shownIn(request).length === 0) return []
  const current = currentTask(request)
  return lookedAt(current, stageOf(current)).found
}

interface Current extends Understanding {
  readonly task: Task
  /** Everything that the request shows. */
  readonly shown: readonly Shown[]
  /** Everything that it tells of. */
  readonly told: readonly Mention[]
}

/** The newest task that asks for anything. */
function currentTask(request: RehearsalRequest): Current {
  const shown = shownIn(request)
  const told = toldIn(request)
  const [newest, ...older] = tasksOf(request)
  for (const task of [newest, ...older]) {
    const understanding = understand(task.words, task.it, showingTo(task, shown, told))
    const { steps, missing, looks } = understanding
    if (steps.length > 0 || missing.length > 0 || looks !== undefined)
      return { task, shown, told, ...understanding }
  }
  return { task: newest, shown, told, steps: [], missing: [] }
}

/** What calls have brought to light since changes nothing about what they were asked for. */
function showingTo({ from }: Task, shown: readonly Shown[], told: readonly Mention[]): Showing {
  const before = shown.filter((one) => one.from <= from)
  const here = before.some((one) => one.from === from)
  const unseen = notIn(before, told)
  const failed = unseen.filter(({ why, at }) => why !== undefined && at >= from)
  return {
    where: here ? 'here' : before.length > 0 ? 'earlier' : unseen.length > 0 ? 'told' : 'nowhere',
    settled: new Set([...before, ...failed].flatMap(({ handle }) => handle ?? [])),
    told: unseen.map(({ handle }) => handle),
  }
}

/** How far a task is. `absent` are calls of tools that are not on offer. */
type Stage = { readonly absent: readonly Call[] } & (
  | { readonly at: 'idle' | 'done' }
  | { readonly at: 'first' | 'later'; readonly next: readonly Call[] }
  | { readonly at: 'stopped'; readonly left: readonly Call[] }
)

function stageOf({ task: { made, tools }, steps }: Current): Stage {
  const wanted = steps.flat()
  const absent = wanted.filter(({ name }) => !tools.has(name))
  if (wanted.length === 0 && made.length === 0) return { at: 'idle', absent }
  const offered = steps
    .map((step): readonly Call[] => step.filter(({ name }) => tools.has(name)))
    .filter((step) => step.length > 0)
  const next = stepAfter(offered, made.length)
  if (next === undefined) return { at: 'done', absent }
  if (made.length === 0) return { at: 'first', next, absent }
  if (made.every(({ result }) => result?.outcome === 'ok')) return { at: 'later', next, absent }
  return { at: 'stopped', left: offered.slice(offered.indexOf(next)).flat(), absent }
}

/** The step whose turn it is when `made` calls are done. Calls that no plan foresaw end the plan. */
function stepAfter(steps: readonly (readonly Call[])[], made: number): readonly Call[] | undefined {
  let before = 0
  for (const step of steps) {
    if (before === made) return step
    before += step.length
  }
  return undefined
}

/** What is asked about is looked at once, at the start; what calls have brought to light, at the end. */
function lookedAt({ task, shown, told, looks }: Current, { at }: Stage): Looked {
  if (at === 'later') return { found: [], absent: [] }
  if (task.made.length > 0)
    return { found: shown.filter(({ from }) => from > task.from), absent: [] }
  if (looks !== undefined) return findShown(looks, shown, { told, from: task.from })
  const own = at === 'idle' ? shown.filter(({ from }) => from === task.from) : []
  return { found: own, absent: [] }
}

function idle({ task, missing, looks, shown }: Current, spoken: Spoken): string {
  const { words, tools } = task
  if (looks !== undefined) return [...spoken.sentences, ...missing].join(' ')
  if (words.some((text) => ABOUT_ME.test(text))) return speech.aboutMyself(tools)
  if (words.every(isBlank) && spoken.sentences.length > 0) return spoken.sentences.join(' ')
  if (shown.length === 0 && words.some(asksWhatIsSeen)) return speech.nothingShown(tools)
  return speech.received(task, spoken, missing)
}

const ABOUT_ME = phrase`
  \b(?:who|what) (?:exactly )?are you\b|\b(?:what|which) (?:(?:kind|sort) of )?(?:model|ai
  |assistant|program|llm|tools)\b|\bare you (?:an? |the |really |still |just )*(?:real|ai|human
  |person|robot|bot|machine|model|claude|gpt|chatgpt|gemini|intelligent|alive|conscious|able
  |there)\b|\bwhat (?:can|could|do) you (?:do|know|understand)\b|\bhow do you work\b
  |\bintroduce yourself\b|\babout yourself\b|^\s*(?:help|[?]+)[\s!?.]*$|\bcan you (?:think
  |read files|write|run commands|help)\b`

function say(text: string, calls: readonly Call[] = []): Thought {
  return { text, calls }
}
