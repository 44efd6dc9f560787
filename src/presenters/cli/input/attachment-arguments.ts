import { usualExtension } from '../../../encoding/magic-bytes.ts'
import { entryAt } from '../../../host/machine.ts'
import type { AttachmentInput, MentionInput } from '../../../model/attachment.ts'
import { failed, ok, type Result } from '../../../model/errors.ts'
import { LIMITS } from '../../../model/limits.ts'
import type { Session } from '../../../session/session.ts'
import { isAttachable, looksLikePath, mentionsIn, type PathWord } from './mentions.ts'
import type { PathBases } from './path-bases.ts'
import { pathFrom, wholePath } from './whole-path.ts'
import type { CliWorld } from '../world/world.ts'

/** Sources of bytes without a name. */
type Sources = Pick<CliWorld, 'cwd' | 'clipboard'> & {
  readonly stdin?: Pick<CliWorld['streams']['stdin'], 'isTTY' | 'upTo'>
}

/** What a message contains besides its text. */
export interface Enclosures {
  readonly attachments: readonly AttachmentInput[]
  /** Other files and folders, whose content the message includes. */
  readonly mentions: readonly MentionInput[]
  /** Handles of Resources to show to the model again. */
  readonly views: readonly string[]
  /** What was sent as text only, for the person. */
  readonly notes: readonly string[]
}

/**
 * Resolves an attachment argument: a path, a URL, `-` for standard input, or `clipboard`. Does not check the content.
 */
export async function attachmentNamed(
  sources: Sources,
  named: string,
): Promise<Result<AttachmentInput>> {
  if (named === '-') return fromStdin(sources)
  if (named === 'clipboard') {
    const bytes = await sources.clipboard()
    return bytes.ok ? ok(stagedInput('clipboard', bytes.value)) : bytes
  }
  if (SCHEME.test(named)) return ok({ from: 'link', uri: named })
  if (named === '')
    return failed('invalid_args', 'Empty attachment: expected a file, a URL, `-` or `clipboard`.')
  const path = wholePath(sources, named)
  return path.ok ? ok({ from: 'path', path: path.value, given: named }) : path
}

/** Resolves all arguments, in order. */
export async function attachmentsNamed(
  sources: Sources,
  names: readonly string[],
): Promise<Result<readonly AttachmentInput[]>> {
  if (names.filter((name) => name === '-').length > 1) {
    return failed('invalid_args', 'Standard input can be attached only once.')
  }
  const inputs: AttachmentInput[] = []
  for (const name of names) {
    const input = await attachmentNamed(sources, name)
    if (!input.ok) return input
    inputs.push(input.value)
  }
  return ok(inputs)
}

/** Resolves the `@` words of a typed prompt; files in `attached` are not attached again. */
export async function enclosedIn(
  text: string,
  session: Pick<Session, 'resourceNamed'>,
  attached: readonly AttachmentInput[],
  bases: PathBases,
): Promise<Enclosures> {
  const { handles, paths } = mentionsIn(text)
  const known = new Set<string>()
  for (const handle of handles) {
    const found = await session.resourceNamed(handle)
    // An unreadable Log is reported when the Turn starts.
    if (!found.ok || found.value !== undefined) known.add(handle)
  }
  const isKnown = (handle: string) => known.has(handle)
  const unknown = handles.filter((handle) => !isKnown(handle))
  const attachments = [...attached]
  const mentions: MentionInput[] = []
  const missing: string[] = []
  for (const word of paths) {
    const { spelling: given, path, entry } = await locateWord(word, bases)
    if (entry === 'file' && isAttachable(given)) {
      if (!attachments.some((one) => isPath(one, path)))
        attachments.push({ from: 'path', path, given })
    } else if (entry !== undefined || looksLikePath(given)) mentions.push({ path, given })
    else missing.push(`@${given}`)
  }
  return { attachments, mentions, views: handles.filter(isKnown), notes: notesOn(unknown, missing) }
}

interface LocatedWord {
  readonly spelling: string
  readonly path: string
  /** Absent if nothing exists there. */
  readonly entry?: 'file' | 'folder' | 'other'
}

/** The longest spelling that exists, in the first folder that has one; otherwise the shortest. */
async function locateWord(word: PathWord, bases: PathBases): Promise<LocatedWord> {
  for (const base of bases) {
    for (const spelling of word) {
      const path = pathFrom(base, spelling)
      const entry = await entryAt(path)
      if (entry !== undefined) return { spelling, path, entry }
    }
  }
  const spelling = word.at(-1) ?? ''
  return { spelling, path: pathFrom(bases[0], spelling) }
}

function notesOn(unknown: readonly string[], missing: readonly string[]): string[] {
  return [
    ...(unknown.length === 0
      ? []
      : [`No Resource ${unknown.join(', ')} in this Session; sent as text.`]),
    ...(missing.length === 0
      ? []
      : [`No file ${missing.slice(0, MOST_NAMED).join(', ')} here; sent as text.`]),
  ]
}

const MOST_NAMED = 3

/** At least two letters, because a single one may be a drive. */
const SCHEME = /^[a-z][a-z0-9+-]+:/i

async function fromStdin({ stdin }: Sources): Promise<Result<AttachmentInput>> {
  if (stdin === undefined || stdin.isTTY) {
    return failed('invalid_args', 'Cannot attach standard input: it is a terminal.', {}, [
      {
        action: 'Pipe or redirect a file.',
        command: 'hawser run --attach - "What is this?" < picture.png',
      },
    ])
  }
  // Reads one byte more than the limit, so that the size check rejects it.
  return ok(stagedInput('stdin', await stdin.upTo(LIMITS.attachment_bytes + 1)))
}

function stagedInput(stem: string, bytes: Buffer): AttachmentInput {
  return { from: 'bytes', name: stagedName(stem, bytes), bytes }
}

function isPath(input: AttachmentInput, path: string): boolean {
  return input.from === 'path' && input.path === path
}

/** A name for bytes without one, such as `stdin.png`, by their type; `.bin` is always refused. */
export function stagedName(stem: string, bytes: Buffer): string {
  return `${stem}.${usualExtension(bytes)}`
}
