import type { EventData, WholeEvent } from '../../model/events/event.ts'
import type { BlobKey } from '../../model/ids.ts'

/** How one file differs from what it was, as far as the Log knows. An absent blob means that the file did not exist. */
export interface ChangeSince {
  /** Relative to the workspace, with links resolved. */
  readonly path: string
  readonly before_blob?: BlobKey
  readonly after_blob?: BlobKey
  readonly redacted_of?: RestoredFile['redacted_of']
  /** Something that the Log does not know changed it in between. */
  readonly hasGap: boolean
}

type RestoredFile = EventData<'files_restored'>['files'][number]

/** One state of a file: what is stored of it, and the hash of what it was. */
interface FileState {
  readonly blob: BlobKey | undefined
  readonly exact: string | undefined
}

interface Step {
  readonly path: string
  readonly from: FileState
  readonly to: FileState
}

/**
 * What write, edit and undo changed in these Events, from before the first change of a file to after its last, the newest first.
 * Omits files that are as before. Pure.
 */
export function changesSince(events: readonly WholeEvent[]): ChangeSince[] {
  const all = new Map<string, { first: FileState; last: FileState; hasGap: boolean }>()
  for (const { path, from, to } of events.flatMap(stepsOf)) {
    const known = all.get(path)
    const hasGap = known !== undefined && !isSame(known.last, from)
    all.delete(path)
    all.set(path, {
      first: known?.first ?? from,
      last: to,
      hasGap: hasGap || (known?.hasGap ?? false),
    })
  }
  return [...all]
    .filter(([, { first, last }]) => !isSame(first, last))
    .toReversed()
    .map(([path, { first, last, hasGap }]) => ({
      path,
      ...(first.blob === undefined ? {} : { before_blob: first.blob }),
      ...(last.blob === undefined ? {} : { after_blob: last.blob }),
      ...redactedOf(first, last),
      hasGap,
    }))
}

function stepsOf({ type, data }: WholeEvent): readonly Step[] {
  if (type === 'tool_result') {
    const { path, after_blob } = data
    return path === undefined || after_blob === undefined ? [] : [stepOf({ ...data, path })]
  }
  if (type !== 'files_restored') return []
  return data.files
    .filter(({ outcome }) => outcome === 'restored')
    .map((file) => {
      const { path, from, to } = stepOf(file)
      return { path, from: to, to: from }
    })
}

function stepOf({
  path,
  before_blob,
  after_blob,
  redacted_of,
}: Pick<RestoredFile, 'path' | 'before_blob' | 'after_blob' | 'redacted_of'>): Step {
  return {
    path,
    from: { blob: before_blob, exact: redacted_of?.before },
    to: { blob: after_blob, exact: redacted_of?.after },
  }
}

function isSame(a: FileState, b: FileState): boolean {
  return hashOf(a) === hashOf(b)
}

/** A key begins with the hash of its bytes. */
function hashOf({ blob, exact }: FileState): string | undefined {
  return exact ?? blob?.split('.', 1)[0]
}

function redactedOf({ exact: before }: FileState, { exact: after }: FileState) {
  if (before === undefined && after === undefined) return {}
  return {
    redacted_of: {
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    },
  }
}
