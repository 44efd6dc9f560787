import { NOTHING_VISIBLE, type Call, type Reading, type Subject, type Visible } from './call.ts'
import { asTyped, mask } from './literals.ts'
import { planIn } from './plan.ts'
import { readingOf } from './rules.ts'
import { stepsOf } from './steps.ts'

/** The meaning of texts. Nothing is guessed: a text that matches no rule has no meaning. */
export interface Understanding {
  /** Groups of calls, in order; the calls of one group may run in parallel. */
  readonly groups: readonly (readonly Call[])[]
  readonly subject?: Subject
  readonly asksLastResult: boolean
  /** The first words that match no rule, after words that did. Everything after them is ignored. */
  readonly notUnderstood?: string
}

/** Reads English commands by rules, each text independently. `it` lists the files that were named last. Pure. */
export function understand(
  texts: readonly string[],
  it: readonly string[] = [],
  visible: Visible = NOTHING_VISIBLE,
): Understanding {
  const readings: Reading[] = []
  let files = it
  let rest: string | undefined
  for (const text of texts) {
    const own = readText(text, files, visible)
    files = own.findLast((one) => one.files !== undefined)?.files ?? files
    rest ??= own.at(-1)?.rest || undefined
    readings.push(...own)
  }
  const views = readings.some(({ calls = [] }) =>
    calls.some(({ name }) => name === 'resource_view'),
  )
  const subject = views ? undefined : together(readings.flatMap((one) => one.subject ?? []))
  return {
    groups: inOrder(readings),
    asksLastResult: readings.some((one) => one.asksLastResult === true),
    ...(subject === undefined ? {} : { subject }),
    ...(rest === undefined ? {} : { notUnderstood: rest }),
  }
}

/** Reads up to the first step that matches no rule, and adds its words to the `rest` of the step before. */
function readText(text: string, it: readonly string[], visible: Visible): Reading[] {
  const masked = mask(text)
  if (masked === undefined) return []
  const { literals } = masked
  const plan = planIn(masked)
  if (plan !== undefined) return [{ calls: [plan], waits: true }]
  const readings: Reading[] = []
  let files = it
  for (const step of stepsOf(masked.text)) {
    const reading = readingOf(step.text, { literals, it: files, visible })
    if (reading !== undefined) readings.push({ ...reading, waits: step.waits })
    files = reading?.files ?? files
    const rest = asTyped(reading === undefined ? step.text : (reading.rest ?? ''), literals).trim()
    if (rest !== '') return readings.map((one) => ({ ...one, rest: rest.replace(JOINT, '') }))
  }
  return readings
}

const JOINT = /^[,:]?\s*(?:and\b\s*)?/i

/** A handle is more specific than a word such as "it". */
function together(subjects: readonly Subject[]): Subject | undefined {
  if (subjects.length === 0) return undefined
  const handles = [...new Set(subjects.flatMap((one) => one.handles))]
  if (handles.length > 0) return { which: 'named', handles }
  return { which: subjects.some(({ which }) => which === 'all') ? 'all' : 'latest', handles }
}

/** Puts calls that may run in parallel into one group; groups run in order. */
function inOrder(readings: readonly Reading[]): Call[][] {
  const groups: Call[][] = []
  for (const { calls = [], waits = false } of readings) {
    for (const [index, call] of calls.entries()) {
      const last = groups.at(-1)
      const apart = (waits && index === 0) || last?.some((earlier) => needs(call, earlier))
      if (last === undefined || apart === true) groups.push([call])
      else last.push(call)
    }
  }
  return groups
}

/** Whether a call depends on an earlier one, although the text does not say "then". */
function needs({ name, arguments: args }: Call, earlier: Call): boolean {
  if (earlier.name === 'bash') return name === 'attach'
  const path = JSON.stringify(earlier.arguments['path'] ?? '').slice(1, -1)
  const isAboutIt = JSON.stringify(args).includes(path)
  if (earlier.name === 'read') return CHANGES.has(name) && isAboutIt
  return CHANGES.has(earlier.name) && (isAboutIt || name === 'grep' || name === 'glob')
}

const CHANGES = new Set(['write', 'edit'])
