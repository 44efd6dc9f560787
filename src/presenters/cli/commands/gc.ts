import * as z from 'zod'
import { ErrorObject } from '../../../model/error-shape.ts'
import { BlobKey, InstanceId, SessionId } from '../../../model/ids.ts'
import { Count } from '../../../model/shape.ts'
import { answer } from '../world/answer.ts'
import { countOf, shownBytes } from '../../../encoding/amounts.ts'
import type { Run } from '../world/command.ts'
import type { GC } from '../definitions/sessions.ts'
import { withProgress } from '../render/progress.ts'
import { inWorkspace } from '../world/workspace.ts'
import { errorOutput } from '../world/failure.ts'
import { visibleText } from '../text/visible-text.ts'
import type { SweptInstance } from '../../../session/queries/sweep.ts'

export const Output = z.object({
  ok: z.literal(true),
  dry_run: z.boolean().describe('Nothing was deleted: the figures are what would be deleted.'),
  kept: Count.describe('Blobs that are kept.'),
  deleted: z.array(BlobKey),
  freed_bytes: Count,
  unbegun: Count.describe(
    'Empty Logs of Sessions whose creation was interrupted; they are removed.',
  ),
  deleted_sessions: Count.describe(
    'Deleted Sessions that no fork needs any more; their Logs are removed.',
  ),
  writing: z
    .array(SessionId)
    .describe('Sessions with a Turn under way. While there is one, no blob is deleted.'),
  instances: z
    .array(
      z.object({
        instance_id: InstanceId,
        kept: Count.optional(),
        deleted: z.array(BlobKey).optional(),
        freed_bytes: Count.optional(),
        writing: z.array(SessionId).optional(),
        error: ErrorObject.optional().describe('Why its blobs were left alone.'),
      }),
    )
    .describe('The blobs of each Instance in this folder, which are kept apart.'),
})

type Instances = z.infer<typeof Output>['instances']

type Figures = Readonly<Omit<z.infer<typeof Output>, 'ok' | 'deleted' | 'writing'>> & {
  readonly deleted: readonly BlobKey[]
  readonly writing: readonly SessionId[]
}

/** Deletes stored bytes that nothing refers to and that are older than an hour. */
export const run: Run<typeof GC> = async (world, { options }) => {
  const { dryRun } = options
  const print = (figures: Omit<Figures, 'dry_run'>) => {
    const output = { dry_run: dryRun, ...figures }
    return answer(world, output, () => words(output))
  }
  return inWorkspace(
    world,
    options,
    async ({ harness }) => {
      const swept = await withProgress(world, 'Looking for unreferenced blobs', () =>
        harness.gc({ dryRun }),
      )
      if (!swept.ok) return swept
      const { kept, deleted, freed_bytes, unbegun, deleted_sessions, writing } = swept.value
      const instances = swept.value.instances.map(entryOf)
      return print({ kept, deleted, freed_bytes, unbegun, deleted_sessions, writing, instances })
    },
    { ifUnused: () => print(NOTHING) },
  )
}

const NOTHING = {
  kept: 0,
  deleted: [],
  freed_bytes: 0,
  unbegun: 0,
  deleted_sessions: 0,
  writing: [],
  instances: [],
}

function entryOf({ instance, result }: SweptInstance): Instances[number] {
  if (!result.ok) return { instance_id: instance, error: errorOutput(result.error) }
  const { kept, deleted, freed_bytes, writing } = result.value
  return {
    instance_id: instance,
    kept,
    deleted: [...deleted],
    freed_bytes,
    writing: [...writing],
  }
}

function words(figures: Figures): string {
  const { dry_run, unbegun, deleted_sessions, instances } = figures
  const verb = dry_run ? 'would be removed' : 'removed'
  const empty =
    unbegun === 0 ? '' : `Empty Logs of Sessions that never started: ${unbegun} ${verb}.\n`
  const unneeded =
    deleted_sessions === 0
      ? ''
      : `Deleted Sessions that no fork needs any more: ${deleted_sessions} ${verb}.\n`
  const others = instances.map((one) => `Instance ${one.instance_id}: ${ofInstance(one, dry_run)}`)
  return [blobWords(figures), empty, unneeded, ...others].join('')
}

function ofInstance(
  { kept = 0, deleted = [], freed_bytes = 0, writing = [], error }: Instances[number],
  dry_run: boolean,
): string {
  if (error !== undefined) return `${visibleText(error.message)}\n`
  return blobWords({ dry_run, kept, deleted, freed_bytes, writing })
}

type BlobFigures = Pick<Figures, 'dry_run' | 'kept' | 'deleted' | 'freed_bytes' | 'writing'>

function blobWords({ dry_run, kept, deleted, freed_bytes, writing }: BlobFigures): string {
  if (writing.length > 0) {
    return `Nothing was deleted: a Turn is running in ${writing.join(', ')}. Run hawser gc again when it has ended.\n`
  }
  if (deleted.length === 0) {
    return `Nothing to delete: ${countOf(kept, 'blob')}, all in use or less than an hour old.\n`
  }
  const verb = dry_run ? 'would be deleted' : deleted.length === 1 ? 'was deleted' : 'were deleted'
  return `${countOf(deleted.length, 'blob')} (${shownBytes(freed_bytes)}) ${verb}, ${kept} kept.\n`
}
