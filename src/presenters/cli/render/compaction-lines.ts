import type { EventData } from '../../../model/events/event.ts'
import { countOf, fileSize, groupDigits } from '../../../encoding/amounts.ts'
import type { CompactionPreview } from '../../../session/queries/compaction-preview.ts'
import { visibleLine } from '../text/visible-text.ts'

type Plan = CompactionPreview['plan']
type CompactionOutline = Extract<Plan, { readonly compactable: true }>
type NotPlanned = Exclude<Plan, CompactionOutline>

/** How a person continues, as typed in a shell or in a chat. */
export interface CompactionCommands {
  readonly compact: string
  readonly undo: string
  readonly lookUp: string
  readonly otherModel: string
  readonly newSession: string
}

/** A compaction that was recorded: what it did, what the model still sees, and how to undo it. */
export function compactedLines(
  plan: CompactionOutline & { readonly fallback?: string | undefined },
  commands: CompactionCommands,
): string[] {
  const { range, tokens_before, tokens_after } = plan.data
  const what =
    range === undefined
      ? `${pointers(plan)} ${plan.lost.outputs === 1 ? 'replaces' : 'replace'} ${longOutputs(plan)}`
      : `a summary replaces Events ${range.from_seq} to ${range.to_seq}`
  return [
    `Compacted: ${what}.`,
    `The next request has about ${groupDigits(tokens_after)} tokens instead of ${groupDigits(tokens_before)}.`,
    ...fallbackLines(plan),
    ...contentLines(plan, commands),
  ]
}

/** Why the model's own summary was not used. */
export function fallbackLines({ fallback }: { readonly fallback?: string | undefined }): string[] {
  return fallback === undefined ? [] : [visibleLine(fallback)]
}

/** What the model sees after a compaction, and how to undo it. */
export function contentLines(plan: CompactionOutline, commands: CompactionCommands): string[] {
  return [
    'The model still sees:',
    ...indent(stillSeen(plan)),
    'The model no longer sees:',
    ...indent(notSeen(plan)),
    'The Log keeps everything.',
    `To search it: ${commands.lookUp}`,
    `To undo the compaction: ${commands.undo}`,
  ]
}

/** What a compaction would do. */
export function plannedLines(
  { plan, request_bytes, summary }: CompactionPreview,
  commands: CompactionCommands,
): string[] {
  if (!plan.compactable) return [DRY_RUN, ...notCompactedLines(plan, commands)]
  const { range, tokens_before, tokens_after } = plan.data
  const what =
    range === undefined
      ? `${longOutputs(plan)} would be replaced by ${pointers(plan)}.`
      : `A summary would replace Events ${range.from_seq} to ${range.to_seq}.`
  const { before, after } = request_bytes
  return [
    DRY_RUN,
    what,
    ...(summary === 'model'
      ? ['The model would write it; the figures below are those of excerpts.']
      : []),
    `The next request would have about ${groupDigits(tokens_after)} tokens instead of ${groupDigits(tokens_before)}`,
    `(${fileSize(after)} instead of ${fileSize(before)}, without your message).`,
    'The model would still see:',
    ...indent(stillSeen(plan)),
    'The model would no longer see:',
    ...indent(notSeen(plan)),
    'The Log would keep everything.',
    `To compact: ${commands.compact}`,
  ]
}

const DRY_RUN = 'Dry run: nothing was written.'

/** Why there was no compaction, and what to do instead. */
export function notCompactedLines(plan: NotPlanned, commands: CompactionCommands): string[] {
  const { reason, tokens_before, tokens_least, target } = plan
  const now = `The next request has about ${countOf(tokens_before, 'token')}.`
  switch (reason) {
    case 'nothing_to_compact':
      return [
        'Nothing to compact.',
        tokens_least < tokens_before
          ? `${now.slice(0, -1)}; a compaction would save ${groupDigits(tokens_before - tokens_least)}.`
          : now,
        'A compaction must save at least 10 %, because it invalidates the prompt cache.',
        'Continue the Session, and compact it when it is longer.',
      ]
    case 'target_not_reached':
      return [
        'Not compacted: the result would exceed the target.',
        now,
        `A compaction could reduce it to ${groupDigits(tokens_least)}; the target is ${groupDigits(target)}.`,
        'The rest cannot be shortened: instructions, tools, pinned texts, recent outputs.',
        'If the context window is full, use a model with a larger one:',
        `  ${commands.otherModel}`,
        `Or start a new Session: ${commands.newSession}`,
      ]
    case 'state_too_large':
      return [
        'Not compacted: too many commands of this Session were cut off by a crash.',
        now,
        'What they left behind must be checked first. The next Turn does that: send a',
        'message, then compact again.',
      ]
    default:
      return reason satisfies never
  }
}

/** A compaction that was undone. */
export interface UndoneFacts {
  readonly range: EventData<'history_compaction'>['range'] | undefined
  readonly surface_restored: boolean
  /** Compactions that are still in force. */
  readonly in_force: number
}

export function undoneLines(undone: UndoneFacts, commands: CompactionCommands): string[] {
  const { range, surface_restored, in_force } = undone
  const what =
    range === undefined
      ? 'its tool outputs are sent in full again'
      : `its summary no longer replaces Events ${range.from_seq} to ${range.to_seq}`
  return [
    `Undid the last compaction: ${what}.`,
    ...(surface_restored ? ['The instructions and tools from before it are restored, too.'] : []),
    ...leftWords(in_force, commands),
  ]
}

function leftWords(in_force: number, { undo }: CompactionCommands): string[] {
  if (in_force === 0) return []
  return in_force === 1
    ? [`An earlier compaction is still in force. To undo it: ${undo}`]
    : [`${in_force} earlier compactions are still in force. To undo the last one: ${undo}`]
}

function stillSeen({ data: { range, strategy }, kept }: CompactionOutline): string[] {
  if (range === undefined) return ['everything else, as before']
  const verbatim = countWords([
    [kept.pinned, 'pinned text'],
    [kept.decisions, 'decision of yours', 'decisions of yours'],
    [kept.open_tasks, 'open task'],
  ])
  const named = countWords([
    [kept.resources, 'Resource'],
    [kept.files_touched, 'changed file'],
    [kept.skills, 'Skill'],
    [kept.hydrations, 'hydration'],
  ])
  const calls = countOf(kept.tool_outcomes, 'tool call')
  const isByModel = strategy.startsWith('model')
  return [
    ...(kept.turns === 0
      ? [isByModel ? 'a summary of the Turns' : 'excerpts of the Turns, as far as they fit']
      : [
          `the last ${turns(kept.turns)} in full`,
          isByModel
            ? 'a summary of the earlier Turns'
            : 'excerpts of the earlier Turns, as far as they fit',
        ]),
    ...(verbatim === '' ? [] : [`verbatim: ${verbatim}`]),
    ...(named === '' ? [] : [`by name: ${named}`]),
    ...(kept.tool_outcomes === 0 ? [] : [`how ${calls} ended, without the output`]),
  ]
}

function notSeen(plan: CompactionOutline): string[] {
  const { lost } = plan
  return [
    ...(lost.turns === 0 ? [] : [`the full text of ${countOf(lost.turns, 'Turn')}`]),
    ...(lost.outputs === 0
      ? []
      : [`${longOutputs(plan)}, unless it looks ${lost.outputs === 1 ? 'it' : 'them'} up`]),
    ...(lost.skills.length === 0
      ? []
      : [`the text of Skills: ${lost.skills.map(visibleLine).join(', ')}`]),
  ]
}

function longOutputs({ lost }: CompactionOutline): string {
  return `${countOf(lost.outputs, 'long tool output')} (${fileSize(lost.output_bytes)})`
}

function pointers({ lost }: CompactionOutline): string {
  return lost.outputs === 1 ? 'a pointer' : 'pointers'
}

function turns(count: number): string {
  return count === 1 ? 'Turn' : `${count} Turns`
}

function countWords(counts: readonly (readonly [number, string, string?])[]): string {
  return counts
    .flatMap(([count, one, many]) => (count === 0 ? [] : [countOf(count, one, many)]))
    .join(', ')
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`)
}
