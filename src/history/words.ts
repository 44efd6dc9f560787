import { quoted, shortened } from '../encoding/quote.ts'
import type { Descriptor } from '../model/descriptor.ts'
import type { WholeEvent } from '../model/events/event.ts'
import { LIMITS } from '../model/limits.ts'
import type { AnswerCut } from '../model/events/turn-events.ts'
import type { Loss } from './transients.ts'

// Every sentence that Hawser itself says to a model. They are part of the Prompt Contract: a pinned hash ties them to its
// version, and the words of an item never change once it was said.

const HOLDS_KEY = 'it holds a key that Hawser uses'

export const NO_RESULT = 'No result was recorded: whether this ran is not known.'

export function lateContext({ data }: WholeEvent<'late_context'>): string {
  return lines([
    'Context from here on (it replaces what was said before):',
    `workspace: ${quoted(data.workspace)}`,
    data.folder === undefined
      ? undefined
      : `folder: ${quoted(data.folder)} (the person is here and commands start here; paths of files are relative to the workspace)`,
    data.branch === undefined ? undefined : `branch: ${quoted(data.branch)}`,
    `mode: ${data.mode}`,
    `permission: ${data.permission_mode}`,
    `date: ${data.date}`,
  ])
}

/** The count tells where it ends, whatever lines the text itself has. */
export function piped(text: string): string {
  const bytes = Buffer.byteLength(text)
  return lines([
    `[Standard input that was piped in with this message, ${bytes} bytes:]`,
    text.endsWith('\n') ? text.slice(0, -1) : text,
    '[End of standard input]',
  ])
}

/** Exactly three are named, whoever counts. */
const NAMED_REJECTIONS = 3

export function rejected(
  errors: readonly { readonly name: string; readonly reason: string }[],
): string {
  const more = errors.length - NAMED_REJECTIONS
  const many = errors.length === 1 ? '1 attachment was' : `${errors.length} attachments were`
  return lines([
    `${many} rejected and cannot be seen.`,
    'Rejected attachments:',
    ...errors
      .slice(0, NAMED_REJECTIONS)
      .map(({ name, reason }) => `- ${bare(name)}: ${bare(reason)}`),
    more > 0 ? `- and ${more} more` : undefined,
  ])
}

/** The handle stands first, so that no cut can touch it. */
export function descriptor(resource: Descriptor): string {
  const facts =
    resource.kind === 'link'
      ? [quoted(resource.uri), 'the target was not fetched']
      : [
          quoted(resource.name),
          resource.media_type,
          `${resource.size_bytes} bytes`,
          resource.width === undefined ? undefined : `${resource.width}x${resource.height} pixels`,
          resource.pages === undefined ? undefined : `${resource.pages} pages`,
          resource.lines === undefined ? undefined : `${resource.lines} lines`,
          resource.charset === undefined ? undefined : `from ${resource.charset}`,
          resource.kind === 'file' ? 'stored, not shown' : undefined,
        ]
  const title = resource.title === undefined ? [] : [`title ${quoted(resource.title)}`]
  const told = [resource.description].flatMap((text) => (text === undefined ? [] : [quoted(text)]))
  const all = [resource.kind, ...facts, ...title, ...told].filter((fact) => fact !== undefined)
  return shortened(`[${resource.handle}: ${all.join(', ')}]`, LIMITS.descriptor_bytes)
}

export function presenterContext(context: Readonly<Record<string, string>>): string {
  const facts = Object.entries(context).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return lines([
    'Volunteered by the program that shows this Session, not authoritative:',
    ...facts.map(([key, value]) => `${quoted(key)}: ${quoted(value)}`),
  ])
}

export function view({ data }: WholeEvent<'resource_view'>): string {
  const part = [
    data.pages === undefined ? undefined : `pages ${data.pages.from} to ${data.pages.to}`,
    data.lines === undefined ? undefined : `lines ${data.lines.from} to ${data.lines.to}`,
    data.region === undefined ? undefined : 'a region',
  ].filter((one) => one !== undefined)
  const what = [data.handle, ...part].join(', ')
  const outcome = {
    projected: 'is shown for this Turn',
    missing: 'cannot be shown: its payload is missing',
    damaged: 'cannot be shown: its payload is damaged',
    denied:
      data.why === 'holds_key'
        ? `is not shown: ${HOLDS_KEY}`
        : 'is not shown: that was not permitted',
  }[data.outcome]
  return `[View of ${what}, by ${data.by}: ${outcome}]`
}

/** In place of bytes that were not to go to this model. */
export function withheld({ handle }: Descriptor): string {
  return `[${handle} is not shown: sending it to this model was not permitted]`
}

/** In place of bytes that were to be shown. */
export function lost({ handle }: Pick<Descriptor, 'handle'>, loss: Loss): string {
  const why = {
    payload_missing: 'its payload is missing',
    payload_damaged: 'its payload is damaged',
    refused: "the model's provider refused it",
    too_large: 'with it the request is larger than this model takes',
    no_variant: 'it could not be made to fit what this model takes',
    upload_denied: 'sending it to this model was not permitted',
    holds_key: HOLDS_KEY,
  }[loss]
  return `[${handle} is not shown: ${why}]`
}

export function skill({ data }: WholeEvent<'skill_activation'>): string {
  return `[Skill ${quoted(data.name)} was activated by the ${data.activated_by} for this Turn, with ${quoted(data.args)}]`
}

export function hydration({ data }: WholeEvent<'skill_context_hydration'>): string {
  const whole = `${data.output_bytes} bytes, sha256 ${data.output_sha256}`
  const cut = data.truncated === true ? ', shown in part' : ''
  return `[Hydrated context ${quoted(data.context_source_id)} of Skill ${quoted(data.skill.name)}: ${data.status}, ${whole}${cut}]`
}

export function checkpoint({ data }: WholeEvent<'history_compaction'>): string {
  return lines([
    `[Checkpoint: Events ${data.range.from_seq} to ${data.range.to_seq} are replaced by this summary. It is lossy.]`,
    data.summary,
    ...(data.limitations ?? []).map((limitation) => `- not kept: ${limitation}`),
  ])
}

export function filesRestored({ data }: WholeEvent<'files_restored'>): string {
  return lines([
    `The ${data.by} took back file changes of an earlier Turn:`,
    ...data.files.map(({ path, outcome, why }) => {
      const because = why === 'redacted' ? ', because a key in it is redacted' : ''
      return `- ${quoted(path)}: ${outcome}${because}`
    }),
  ])
}

/** A Turn that came to its end says so by its answer; any other end is told. */
export function turnEnded({ data }: WholeEvent<'turn_ended'>): string | undefined {
  if (data.crash_recovered === true) return '[This Turn was cut off by a crash.]'
  if (data.status === 'interrupted') return '[This Turn was interrupted by the person.]'
  if (data.status === 'failed') return `[This Turn failed: ${data.error?.kind ?? 'internal'}.]`
  return data.cut === undefined ? undefined : answerCut(data.cut)
}

function answerCut({ reason, lost_calls }: AnswerCut): string {
  const how = {
    output_limit: 'was cut off at the output limit',
    lost_call: 'did not arrive whole',
    unknown_reason: 'may have been cut off',
  }[reason]
  const calls =
    lost_calls === 0 ? '' : ` Tool calls that were incomplete and did not run: ${lost_calls}.`
  return `[The last answer ${how}.${calls}]`
}

/** Safe on a line of its own, without quotes around it. */
function bare(text: string): string {
  return quoted(text).slice(1, -1)
}

function lines(all: readonly (string | undefined)[]): string {
  return all.filter((line) => line !== undefined).join('\n')
}
