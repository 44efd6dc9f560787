import { isUtf8 } from 'node:buffer'
import { Redactor } from '../../encoding/redaction.ts'
import { unifiedDiff } from '../../encoding/unified-diff.ts'
import { shownPath } from '../../host/files/confined-path.ts'
import { composeSteps, type ComposedChange, type FileState } from '../../history/file-changes.ts'
import { notCovered, type NotCovered, type RanCommand } from '../../history/ran-commands.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { TurnId } from '../../model/ids.ts'
import { readablePath } from '../../model/events/snapshot-entry.ts'
import type { LiveSession } from '../live/live-session.ts'
import type { SessionParts } from '../live/session-parts.ts'
import { contentFrom, loadChanges, type ContentOf } from './load-changes.ts'
import { noChanges } from './undo.ts'

/** The change of one file or link. */
export interface FileDiff {
  readonly path: string
  readonly change: 'created' | 'changed' | 'removed'
  /** Both contents are available and are text. */
  readonly text: boolean
  /** A unified diff; a sentence if `text` is false. */
  readonly diff: string
  /** The permissions, where they are known and matter. */
  readonly modes?: { readonly before?: string; readonly after?: string }
}

export interface SessionDiff {
  readonly files: readonly FileDiff[]
  /** Commands whose changes are not known and not among `files`. */
  readonly uncovered: readonly RanCommand[]
  /** Paths that the snapshots around the others do not cover. */
  readonly notCovered: NotCovered
  /** The Turn is undone: its changes are no longer in the files. */
  readonly undone: boolean
}

export interface DiffOptions {
  /** Default: the whole Session. */
  readonly turn?: TurnId | undefined
  /** To the files as they are now, instead of as the Session left them. */
  readonly now?: boolean | undefined
}

type DiffParts = Pick<SessionParts, 'log' | 'tools'>

/**
 * The changes that tools and commands made to files. Of the whole Session: from before the first change to after the last,
 * without those that were undone. Of one Turn: what it changed, also if that was undone.
 */
export async function diffChanges(
  { log, tools }: DiffParts,
  session: LiveSession,
  { turn, now = false }: DiffOptions = {},
): Promise<Result<SessionDiff>> {
  const loaded = await loadChanges(log, tools.snapshots, session)
  if (!loaded.ok) return loaded
  const { units, stepsSince } = loaded.value
  const uncovered = loaded.value.uncoveredCommands.filter(
    ({ turn_id }) => turn === undefined || turn_id === turn,
  )
  const chosen = units.find((one) => one.turn === turn)
  const gaps = loaded.value.gaps.filter(({ key }) => turn === undefined || key === turn)
  if (turn !== undefined && chosen === undefined && uncovered.length + gaps.length === 0)
    return noChanges([])
  const recorded = composeSteps(turn === undefined ? stepsSince() : (chosen?.steps ?? []))
  const changes = now ? await toNow(tools, recorded) : ok(recorded)
  if (!changes.ok) return changes
  const texts = { log, contentOf: contentFrom(tools.snapshots) }
  const files: FileDiff[] = []
  for (const change of changes.value) {
    const isFolder = [change.from?.kind, change.to?.kind].every(
      (kind) => kind === 'folder' || kind === undefined,
    )
    if (!isFolder) files.push(await diffOf(texts, change))
  }
  return ok({ files, uncovered, notCovered: notCovered(gaps), undone: chosen?.isUndone ?? false })
}

/** The same paths, to what is there now; without those that are as before. */
async function toNow(
  { snapshots: open }: DiffParts['tools'],
  changes: readonly ComposedChange[],
): Promise<Result<readonly ComposedChange[]>> {
  const snapshots = await open?.()
  if (snapshots === undefined) return ok(changes)
  const paths = changes.map(({ path }) => path)
  const found = await snapshots.entries(paths)
  if (!found.ok) return found
  const steps = changes.map((change) => ({ ...change, to: found.value.get(change.path) }))
  // What is only on disk is stored, so that it can be read like the rest.
  const stored = await snapshots.capture(paths)
  return stored.ok ? ok(composeSteps(steps)) : stored
}

interface TextParts {
  readonly log: SessionParts['log']
  readonly contentOf: ContentOf
}

async function diffOf(
  parts: TextParts,
  { path: bytes, from, to }: ComposedChange,
): Promise<FileDiff> {
  const path = readablePath(bytes)
  const change = from === undefined ? 'created' : to === undefined ? 'removed' : 'changed'
  const [before, after] = await Promise.all([textOf(parts, from), textOf(parts, to)])
  const known = { path, change, ...modesOf(from, to) } as const
  const name = shownPath(path)
  if (before === undefined || after === undefined) {
    return { ...known, text: false, diff: `${name}: the content is not text, or is missing.\n` }
  }
  // Redacted again: snapshots are exact copies, and earlier versions stored unredacted content.
  const redactor = new Redactor(parts.log.secrets)
  const diff = await unifiedDiff(name, redactor.text(before), redactor.text(after))
  const isSame = before === after && hashOf(from) === hashOf(to)
  if (diff !== '' || isSame) return { ...known, text: true, diff }
  return { ...known, text: false, diff: `${name}: only keys changed; they are not shown.\n` }
}

/** Larger texts are named only. */
const MOST_BYTES = 4 * 1024 * 1024

/** The text of a file; empty if there is none; as in git, the target of a link. */
async function textOf(
  { log, contentOf }: TextParts,
  state: FileState,
): Promise<string | undefined> {
  if (state === undefined) return ''
  if (state.kind === 'link') return readablePath(state.target)
  if (state.kind !== 'file' && state.kind !== 'stored') return undefined
  const stored = state.kind === 'stored' ? await log.store.get(state.blob) : undefined
  const bytes = stored?.ok === true ? stored.value : await contentOf(state.sha256)
  const isText = bytes !== undefined && bytes.length <= MOST_BYTES && isUtf8(bytes)
  return isText && !bytes.includes(0) ? bytes.toString('utf8') : undefined
}

function hashOf(state: FileState): string | undefined {
  return state?.kind === 'file' || state?.kind === 'stored' ? state.sha256 : undefined
}

/** As in git. Tools record none. */
function modesOf(from: FileState, to: FileState): Pick<FileDiff, 'modes'> {
  const [before, after] = [modeOf(from), modeOf(to)]
  if (before === after) return {}
  return {
    modes: {
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    },
  }
}

function modeOf(state: FileState): string | undefined {
  if (state?.kind === 'link') return '120000'
  if (state?.kind !== 'file') return undefined
  return (state.mode & 0o100) === 0 ? '100644' : '100755'
}
