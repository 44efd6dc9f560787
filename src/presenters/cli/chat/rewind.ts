import { basename } from 'node:path'
import { composeSteps } from '../../../history/file-changes.ts'
import {
  MESSAGE_EVENTS,
  OwnMessages,
  type OwnMessage,
} from '../../../history/rewind/own-messages.ts'
import { notCoveredWords, uncoveredLines, type RanCommand } from '../../../history/ran-commands.ts'
import type { AttachmentInput } from '../../../model/attachment.ts'
import { countOf } from '../../../encoding/amounts.ts'
import { causeOf, ok, type Result } from '../../../model/errors.ts'
import { readablePath } from '../../../model/events/snapshot-entry.ts'
import type { RewindOptions, RewindResult } from '../../../session/forks/rewind.ts'
import type { PickerOrder } from '../pick/picker.ts'
import { replaceAll } from '../screen/editor.ts'
import { sentences } from '../screen/rows.ts'
import { localTime } from '../text/local-time.ts'
import { resourceWords } from '../text/resource-words.ts'
import { visibleLine } from '../text/visible-text.ts'
import type { PendingAttachment } from './commands/pending-attachments.ts'
import type { ChatDesk } from './desk.ts'
import { failureRows } from './translate.ts'

/** Lets the person choose one of their messages, and continues in a branch from before it, with the message in the input. */
export async function goBack(desk: ChatDesk): Promise<void> {
  const { current, display } = desk
  const known = await sentMessages(desk)
  if (!known.ok) return display.print(failureRows(known.error, display.columns))
  if (known.value.length === 0) {
    desk.note = 'There is no message of yours to go back to.'
    return display.refresh()
  }
  const message = await desk.picking.pick(messageOrder(known.value))
  if (message === undefined) return
  const options = await chosenWay(desk, message)
  if (options === undefined) return
  if (current.busy) {
    desk.note = 'A Turn has begun meanwhile; interrupt it first.'
    return display.refresh()
  }
  const rewound = await rewind(desk, options)
  if (rewound === undefined) return
  if (!rewound.ok) return display.print(failureRows(rewound.error, display.columns))
  await continueIn(desk, rewound.value)
}

/** A message, and what happened to files since. */
interface MessageChoice extends OwnMessage {
  readonly files: readonly string[]
  readonly commands: readonly RanCommand[]
}

/** The messages that the person sent, the newest first. */
async function sentMessages({
  parts,
  current,
}: ChatDesk): Promise<Result<readonly MessageChoice[]>> {
  const found = new OwnMessages()
  const messages: OwnMessage[] = []
  const options = { types: MESSAGE_EVENTS }
  const read = await parts.actions.read?.(current.session.id, options, ({ event }) => {
    const message = event && found.take(event)
    if (message !== undefined) messages.push(message)
  })
  if (read?.ok === false) return read
  const changes = await current.session.changes()
  if (!changes.ok) return changes
  const { stepsSince, uncoveredCommands } = changes.value
  const sent = messages.map((message) => ({
    ...message,
    files: composeSteps(stepsSince(message.turn))
      .filter(({ from, to }) => (from ?? to)?.kind !== 'folder')
      .map(({ path }) => readablePath(path)),
    commands: uncoveredCommands.filter(({ turn }) => turn >= message.turn),
  }))
  return ok(sent.toReversed())
}

function messageOrder(messages: readonly MessageChoice[]): PickerOrder<MessageChoice> {
  return {
    title: 'Go back before a message',
    choices: messages.map((message) => ({
      value: message,
      name: firstLine(message),
      columns: [localTime(message.ts), changedWords(message)],
      words: message.text,
    })),
    preview: (message) => [
      ...message.text.split('\n', MOST_PREVIEW),
      [
        ...message.resources.map((one) => visibleLine(resourceWords(one))),
        ...message.files.slice(0, MOST_PREVIEW),
      ].join(' · '),
    ],
  }
}

const MOST_PREVIEW = 4
const LONGEST_NAME = 200

function firstLine({ text, resources }: Pick<OwnMessage, 'text' | 'resources'>): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  if (line !== '') return line.slice(0, LONGEST_NAME)
  return resources.map(({ name }) => name).join(', ')
}

function changedWords({ files }: MessageChoice): string {
  return files.length === 0 ? '' : countOf(files.length, 'file')
}

/** Asks only if files changed since, or may have; `undefined` if the person cancels. */
async function chosenWay(
  { picking }: ChatDesk,
  { turn, files, commands }: MessageChoice,
): Promise<RewindOptions | undefined> {
  if (files.length === 0 && commands.length === 0) return { turn }
  const uncovered = uncoveredLines(commands).map((line) => visibleLine(`! ${line}`))
  const stays = uncovered.length === 0 ? [] : ['What these commands changed stays:', ...uncovered]
  const names = `${countOf(files.length, 'file')}: ${files.map(visibleLine).join(', ')}`
  const summary = { columns: ['pins what was done, for the model'] }
  const choices: PickerOrder<RewindOptions>['choices'] = [
    { value: { turn, files: true }, name: 'Conversation and files', columns: ['restores files'] },
    { value: { turn }, name: 'Conversation only', columns: ['leaves the files as they are'] },
    {
      value: { turn, files: true, summary: true },
      name: 'Conversation and files, with a summary',
      ...summary,
    },
    { value: { turn, summary: true }, name: 'Conversation only, with a summary', ...summary },
  ]
  const canRestore = files.length > 0
  return picking.pick({
    title: `Go back before Turn ${turn}`,
    choices: canRestore ? choices : choices.filter(({ value }) => value.files !== true),
    preview: ({ files: restores }) => {
      if (!canRestore) return stays
      return restores === true ? [names, ...stays] : []
    },
  })
}

/** Asks about files that something else changed since; `undefined` if the person cancels. */
async function rewind(
  { current: { session }, picking }: ChatDesk,
  options: RewindOptions,
): Promise<Result<RewindResult> | undefined> {
  const tried = await session.rewind(options)
  const cause = tried.ok ? undefined : causeOf(tried.error)
  if (cause?.type !== 'files_changed') return tried
  const paths = cause.paths.map(visibleLine)
  const conflicts = await picking.pick<NonNullable<RewindOptions['conflicts']>>({
    title: `Changed by something else since: ${paths.join(', ')}`,
    choices: [
      { value: 'leave', name: 'Leave them, and restore the other files' },
      { value: 'overwrite', name: 'Overwrite them' },
    ],
    preview: () => paths,
  })
  return conflicts === undefined ? undefined : session.rewind({ ...options, conflicts })
}

/** Shows the branch, with the withdrawn message in the input. */
async function continueIn(desk: ChatDesk, rewound: RewindResult): Promise<void> {
  const { display, current: before, parts } = desk
  const say = (text: string) =>
    display.print(sentences(text, { columns: display.columns, style: { dim: true } }))
  const opened = await parts.actions.open(rewound.session_id)
  if (!opened.ok) return display.print(failureRows(opened.error, display.columns))
  const kept = before.session.id
  await desk.goTo(opened.value)
  say(`You are before Turn ${rewound.turn} of ${kept}, which is kept: /fork switches back.`)
  const lines = uncoveredLines(rewound.commands)
  if (lines.length > 0)
    say(`What these commands changed is not known and stays: ${lines.join('; ')}.`)
  const gaps = rewound.notCovered === undefined ? '' : notCoveredWords(rewound.notCovered)
  if (gaps !== '') say(visibleLine(gaps))
  const { text, stdin } = rewound
  const draft = [text, ...(stdin === undefined ? [] : [stdin])].join('\n\n')
  desk.editor = replaceAll(desk.editor, draft)
  desk.pending.giveBack(await attachmentsOf(desk, rewound))
  const missing = rewound.resources.filter((one) => inputOf(one) === undefined)
  if (missing.length > 0)
    say(`Not attached again: ${missing.map(({ name }) => visibleLine(name)).join(', ')}.`)
  desk.keeper.follow()
  display.refresh()
}

/** Without those that the text brings by itself, by naming their file. */
async function attachmentsOf(
  { parts, current }: ChatDesk,
  { text, resources }: RewindResult,
): Promise<readonly PendingAttachment[]> {
  const enclosed = await parts.actions.resolveWords?.(text, current.session, [])
  const named = new Set(
    enclosed?.attachments.flatMap((one) =>
      one.from === 'path' ? [basename(String(one.path))] : [],
    ),
  )
  return resources.flatMap((resource) => {
    const input = inputOf(resource)
    if (input === undefined || named.has(resource.name)) return []
    return [{ input, words: wordsOf(resource) }]
  })
}

/** Without the handle, which the next message may give to another one. */
function wordsOf(resource: RewindResult['resources'][number]): string {
  return visibleLine(resourceWords(resource).replace(/^\S+ /, ''))
}

/** `undefined` for what a chat cannot attach. */
function inputOf(resource: RewindResult['resources'][number]): AttachmentInput | undefined {
  if (resource.kind === 'file') return undefined
  if (resource.kind !== 'link') {
    const { name, blob, media_type, size_bytes: size } = resource
    return { from: 'blob', name, blob, media_type, size }
  }
  const { uri, name } = resource
  return uri === undefined ? undefined : { from: 'link', uri, name }
}
