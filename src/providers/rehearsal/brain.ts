import { phrase } from './english/phrase.ts'
import type { Call } from './english/reading.ts'
import { tasksOf, type Task } from './task.ts'
import type { RehearsalRequest } from './schema.ts'
import { aboutMyself, announce, notOffered, received, report, stopped } from './speech.ts'
import { understand, type Understanding } from './understand.ts'

/** What the model answers: some text, and the calls it wants made at once. */
export interface Thought {
  readonly text: string
  readonly calls: readonly Call[]
}

/**
 * The rehearsal model. It follows rules and reads nothing but the request: the last thing a person said, the tools on
 * offer, and what has come back since. The same request gets the same answer. Pure.
 */
export function think(request: RehearsalRequest): Thought {
  const { task, steps, missing } = currentTask(request)
  const wanted = steps.flat()
  if (wanted.length === 0 && task.made.length === 0) return say(idle(task, missing))

  const offered = steps
    .map((step): readonly Call[] => step.filter(({ name }) => task.tools.has(name)))
    .filter((step) => step.length > 0)
  const absent = wanted.filter(({ name }) => !task.tools.has(name))
  const next = stepAfter(offered, task.made.length)
  const failed = task.made.some(({ result }) => result?.outcome !== 'ok')
  const notes = [...absent.map(notOffered), ...missing]

  if (task.made.length === 0 && next !== undefined) return say(announce(next, notes, 'first'), next)
  if (next === undefined) return say(report(task.made, notes))
  if (failed) return say(stopped(task.made, offered.slice(offered.indexOf(next)).flat()))
  return say(announce(next, [], 'later'), next)
}

/** The newest that asks for anything. */
function currentTask(request: RehearsalRequest): Understanding & { readonly task: Task } {
  const [newest, ...older] = tasksOf(request)
  for (const task of [newest, ...older]) {
    const understanding = understand(task.texts, task.it)
    if (understanding.steps.length > 0 || understanding.missing.length > 0)
      return { task, ...understanding }
  }
  return { task: newest, steps: [], missing: [] }
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

function idle(task: Task, missing: readonly string[]): string {
  if (task.texts.some((text) => ABOUT_ME.test(text))) return aboutMyself(task.tools)
  return received(task, missing)
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
