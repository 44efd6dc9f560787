import * as z from 'zod'
import { ok } from '../../../model/errors.ts'
import { BlobKey, SessionId } from '../../../model/ids.ts'
import { Count } from '../../../model/shape.ts'
import { answer } from '../world/answer.ts'
import { counted, shownBytes } from '../../../encoding/amounts.ts'
import type { CommandInput } from '../world/command.ts'
import { withProgress } from '../render/progress.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { CliWorld } from '../world/world.ts'

const GcArgs = z.object({
  options: z.object({ dryRun: z.boolean().default(false), json: z.boolean().default(false) }),
})

export const Output = z.object({
  ok: z.literal(true),
  dry_run: z.boolean().describe('Nothing was deleted: the figures are what would be deleted.'),
  kept: Count.describe('Blobs that are kept.'),
  deleted: z.array(BlobKey),
  freed_bytes: Count,
  unbegun: Count.describe(
    'Empty Logs of Sessions whose creation was interrupted; they are removed.',
  ),
  writing: z
    .array(SessionId)
    .describe('Sessions with a Turn under way. While there is one, no blob is deleted.'),
})

type Figures = Readonly<Omit<z.infer<typeof Output>, 'ok' | 'deleted' | 'writing'>> & {
  readonly deleted: readonly BlobKey[]
  readonly writing: readonly SessionId[]
}

/** Deletes stored bytes that nothing refers to and that are older than an hour. */
export async function run(world: CliWorld, commandInput: CommandInput): Promise<number> {
  const { dryRun, json } = GcArgs.parse(commandInput).options
  const print = (figures: Omit<Figures, 'dry_run'>) => {
    const output = { dry_run: dryRun, ...figures }
    return answer(world, json, output, () => words(output))
  }
  return inWorkspace(
    world,
    commandInput,
    async ({ harness }) => {
      const swept = await withProgress(world, 'Looking for unreferenced blobs', () =>
        harness.gc({ dryRun }),
      )
      if (!swept.ok) return swept
      const { kept, deleted, freed_bytes, unbegun, writing } = swept.value
      return ok(print({ kept, deleted, freed_bytes, unbegun, writing }))
    },
    { unused: () => print({ kept: 0, deleted: [], freed_bytes: 0, unbegun: 0, writing: [] }) },
  )
}

function words(figures: Figures): string {
  const { dry_run, unbegun } = figures
  if (unbegun === 0) return blobWords(figures)
  const verb = dry_run ? 'would be removed' : 'removed'
  return `${blobWords(figures)}Empty Logs of Sessions that never started: ${unbegun} ${verb}.\n`
}

function blobWords({ dry_run, kept, deleted, freed_bytes, writing }: Figures): string {
  if (writing.length > 0) {
    return `Nothing was deleted: a Turn is running in ${writing.join(', ')}. Run hawser gc again when it has ended.\n`
  }
  if (deleted.length === 0) {
    return `Nothing to delete: ${counted(kept, 'blob')}, all in use or less than an hour old.\n`
  }
  const verb = dry_run ? 'would be deleted' : deleted.length === 1 ? 'was deleted' : 'were deleted'
  return `${counted(deleted.length, 'blob')} (${shownBytes(freed_bytes)}) ${verb}, ${kept} kept.\n`
}
