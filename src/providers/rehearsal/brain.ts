import { offeredCall, ownCall } from './client-tools.ts'
import type { Call, Visible } from './english/call.ts'
import { understand, type Understanding } from './english/understand.ts'
import type { RehearsalRequest } from './schema.ts'
import { descriptionText } from './description-speech.ts'
import {
  inspect,
  mentionsIn,
  notVisible,
  visibleIn,
  type Inspection,
  type Mention,
  type Descriptions,
  type DescriptionText,
  type VisiblePart,
} from './visible-parts.ts'
import { skillSentences } from './skill-facts.ts'
import * as speech from './speech.ts'
import { requestedSummary } from './summary.ts'
import { lastFile, tasksOf, type CallRecord, type Task } from './task.ts'
import { filesIn, LIST_FILES, welcome } from './welcome.ts'

/** The model's answer: text, and calls to run in parallel. */
export interface Thought {
  readonly text: string
  readonly calls: readonly Call[]
}

/**
 * The offline model. It follows the rules of `english/` and uses only the request and what its images show: the last user
 * message, the offered tools, and the results since. The same request gets the same answer. Pure.
 */
export function think(request: RehearsalRequest, descriptions: Descriptions = new Map()): Thought {
  const summary = requestedSummary(request)
  if (summary !== undefined) return say(summary)
  const current = currentTask(request)
  const stage = stageOf(current)
  const { calls, tools } = current.task
  const description = descriptionText(
    inspectionOf(current, stage),
    descriptions,
    new Set(tools.keys()),
  )
  const notes = [...stage.absent.map(speech.notOffered), ...notUnderstood(current)]
  switch (stage.at) {
    case 'answer':
      return say(plainAnswer(current, description))
    case 'look around':
      return say(speech.LOOKING_AROUND, stage.next)
    case 'first':
      return say(
        [...description.sentences, speech.announce(stage.next.map(ownCall), notes)].join(' '),
        stage.next,
      )
    case 'later':
      return say(speech.announceNext(stage.next.map(ownCall)), stage.next)
    case 'stopped':
      return say(speech.stopReply(calls, stage.rest.map(ownCall), description.sentences))
    case 'done':
      return say(speech.report(calls, [...notes, ...description.sentences, ...current.skills]))
  }
}

/** The parts that must be inspected before `think`. Pure. */
export function partsToInspect(request: RehearsalRequest): readonly VisiblePart[] {
  if (visibleIn(request).length === 0) return []
  const current = currentTask(request)
  return inspectionOf(current, stageOf(current)).parts
}

interface Current extends Understanding {
  readonly task: Task
  readonly parts: readonly VisiblePart[]
  readonly mentions: readonly Mention[]
  /** Sentences about the Skills and hydrated facts of the Turn. */
  readonly skills: readonly string[]
}

/** The newest task with a command or question, or else the newest. */
function currentTask(request: RehearsalRequest): Current {
  const parts = visibleIn(request)
  const mentions = mentionsIn(request)
  const tasks = tasksOf(request).map((task) => {
    const visible = visibleTo(task, parts, mentions)
    const skills = skillSentences(request, task.from)
    const meaning = understand(task.words, lastFile(task.earlier), visible)
    return { task, parts, mentions, skills, ...meaning }
  })
  const [newest] = tasks
  const current = tasks.find((one) => !asksNothing(one)) ?? newest
  if (current === undefined) throw new Error('a request has at least one task')
  return current
}

function asksNothing({ groups, subject, asksLastResult }: Understanding): boolean {
  return groups.length === 0 && subject === undefined && !asksLastResult
}

/** Ignores parts that calls added after the task: they do not change what the person asked for. */
function visibleTo(
  { from }: Task,
  parts: readonly VisiblePart[],
  mentions: readonly Mention[],
): Visible {
  const before = parts.filter((part) => part.from <= from)
  const here = before.some((part) => part.from === from)
  const described = notVisible(before, mentions)
  const unavailable = described.filter(({ why, at }) => why !== undefined && at >= from)
  const without = described.length > 0 ? 'described' : 'nowhere'
  return {
    where: here ? 'here' : before.length > 0 ? 'earlier' : without,
    settledHandles: new Set([...before, ...unavailable].flatMap(({ handle }) => handle ?? [])),
    describedHandles: described.map(({ handle }) => handle),
  }
}

/** The progress of a task. `absent`: calls for which the request offers no tool. */
type Stage = { readonly absent: readonly Call[] } & (
  | { readonly at: 'answer' | 'done' }
  | { readonly at: 'look around' | 'first' | 'later'; readonly next: readonly Call[] }
  | { readonly at: 'stopped'; readonly rest: readonly Call[] }
)

function stageOf(current: Current): Stage {
  const { task, groups } = current
  const { calls: made, tools } = task
  const wanted = groups.flat()
  const absent = wanted.filter((call) => offeredCall(call, tools) === undefined)
  if (wanted.length === 0) return withoutCommands(current)
  const offered = groups
    .map((group) => group.flatMap((call) => offeredCall(call, tools) ?? []))
    .filter((group) => group.length > 0)
  const next = groupAfter(offered, made.length)
  if (next === undefined) return { at: 'done', absent }
  if (made.length === 0) return { at: 'first', next, absent }
  if (made.every((call) => speech.hasSucceeded(call))) return { at: 'later', next, absent }
  const rest = offered.slice(offered.findIndex((group) => group === next)).flat()
  return { at: 'stopped', rest, absent }
}

/** A first message without a command is answered with files of the workspace as examples. */
function withoutCommands(current: Current): Stage {
  const { task, parts, mentions, skills } = current
  const [made] = task.calls
  if (made === undefined) {
    const shown = parts.length + mentions.length + skills.length
    const isNew = task.opens && asksNothing(current) && shown === 0
    // Uses only the listing tool: a greeting must not run a command.
    if (!isNew || !task.tools.has(LIST_FILES.name)) return { at: 'answer', absent: [] }
    return { at: 'look around', next: [LIST_FILES], absent: [] }
  }
  const hasListed = task.calls.length === 1 && isListing(made) && task.opens
  return { at: hasListed ? 'answer' : 'done', absent: [] }
}

function isListing({ name, arguments: args }: CallRecord): boolean {
  return name === LIST_FILES.name && args['pattern'] === LIST_FILES.arguments['pattern']
}

/** The next group after `made` calls. A number of calls that matches no group ends the task. */
function groupAfter(
  groups: readonly (readonly Call[])[],
  made: number,
): readonly Call[] | undefined {
  let before = 0
  for (const group of groups) {
    if (before === made) return group
    before += group.length
  }
  return undefined
}

/** The subject of a question is inspected once, at the start; parts that calls added are inspected at the end. */
function inspectionOf({ task, parts, mentions, subject }: Current, { at }: Stage): Inspection {
  if (at === 'later') return { parts: [], absent: [] }
  if (task.calls.length > 0) {
    return { parts: parts.filter(({ from }) => from > task.from), absent: [] }
  }
  if (subject !== undefined) return inspect(subject, parts, { mentions, from: task.from })
  const own = at === 'answer' ? parts.filter(({ from }) => from === task.from) : []
  return { parts: own, absent: [] }
}

function plainAnswer(current: Current, description: DescriptionText): string {
  const { task, subject, asksLastResult, parts, mentions, skills } = current
  const all = [...task.earlier, ...task.calls]
  const friendly = welcome({
    files: filesIn(all),
    handles: [...new Set([...parts, ...mentions].flatMap(({ handle }) => handle ?? []))],
  })
  const others = task.others.map(speech.unknownPart)
  if (asksLastResult) {
    const last = task.earlier.at(-1)
    return last === undefined ? `${speech.NO_RESULT} ${friendly}` : speech.report([last], [])
  }
  if (skills.length > 0) return [...description.sentences, ...skills].join('\n\n')
  const seen = [...description.sentences, ...others]
  if (subject !== undefined && seen.length > 0)
    return [...seen, ...notUnderstood(current)].join(' ')
  if (subject !== undefined) return `${speech.NOTHING_VISIBLE} ${friendly}`
  if (task.words.length === 0 && seen.length > 0) return seen.join(' ')
  return [...seen, friendly].join(' ')
}

function notUnderstood({ notUnderstood: words }: Understanding): string[] {
  return words === undefined ? [] : [speech.notUnderstood(words)]
}

function say(text: string, calls: readonly Call[] = []): Thought {
  return { text, calls }
}
