import * as z from 'zod'
import { failed, ok, type Result } from '../../../model/errors.ts'
import type { RemoteProvider } from '../../../model/remote-providers.ts'
import type { Settings } from '../../../model/settings.ts'
import { Count } from '../../../model/shape.ts'
import { compareRuns, FACTORS } from '../../../session/probe/cache-comparison.ts'
import {
  liveTarget,
  probePlan,
  REHEARSAL_PROVIDERS,
  type ProbeTarget,
} from '../../../session/probe/plan.ts'
import { loadSettings } from '../../../session/settings/settings.ts'
import { answer, wantsColour } from '../world/answer.ts'
import { terminalText } from '../text/cell-width.ts'
import type { CommandInput, Run } from '../world/command.ts'
import type { CACHE_PROBE } from '../definitions/cache.ts'
import { EXIT } from '../world/exit-code.ts'
import { isWellBehaved, comparisonLines, planLines } from '../render/probe-lines.ts'
import { bothRuns } from '../../../session/probe/both-runs.ts'
import { withProgress } from '../render/progress.ts'
import { stopOnSignals } from '../world/until-stopped.ts'
import { inSettings } from '../world/settings-place.ts'
import type { CliWorld } from '../world/world.ts'

const Ratio = z.number()

const Tokens = z.object({
  input: Count,
  cached_read: Count,
  cache_write: Count,
  cached_ratio: Ratio.describe('cached_read of input, from 0 to 1.'),
})

const RunOutput = z.object({
  variant: z.string(),
  sessions: Count,
  requests: Count,
  first: Tokens.describe('Of the very first call: the initial cost of a change.'),
  after_first: Tokens.describe('Of the other calls of the first Session.'),
  lowest_ratio: Ratio.describe('The smallest ratio of any of these.'),
  other_workspace: Tokens.optional().describe('Of the first call in another workspace.'),
  request_bytes: Count,
  sent_bytes: Count,
  continued: Count.describe('Requests that sent only new items.'),
  reads: z
    .object({ expected: Count, right: Count, outside: Count })
    .describe('Files expected, read in the right workspace, and looked for outside it.'),
})

export const Output = z.object({
  ok: z.literal(true),
  dry_run: z.boolean().describe('Nothing was sent.'),
  live: z.boolean().describe('A remote provider is used instead of the offline demo model.'),
  plan: z.object({
    vary: z.enum(FACTORS),
    provider: z.string(),
    model: z.string(),
    to: z.string().describe('Where requests go.'),
    variants: z.array(z.string()),
    workspaces: Count.describe(
      'Number of workspaces; each variant runs one Session in each, in sequence.',
    ),
    prompts: z.array(z.string()),
    least_calls: Count.describe('For both variants together; a model may make more.'),
  }),
  comparison: z
    .object({
      attributed_to: z.enum(FACTORS).describe('The only recorded difference between the runs.'),
      runs: z.array(RunOutput).length(2),
      moved: z
        .object({ first: Ratio, after_first: Ratio, other_workspace: Ratio.optional() })
        .describe('Ratios of the second run minus those of the first.'),
      behaved: z.boolean().describe('Every file was read in the right workspace.'),
    })
    .optional(),
})

/**
 * Runs the same Sessions in two variants that differ in one factor, and compares what was cached. Exit code 1 if the
 * calls of a run did not reach the intended workspace, or the difference cannot be attributed.
 */
export const run: Run<typeof CACHE_PROBE> = async (world, { options }) =>
  inSettings(world, {}, 'none', async ({ home }) => {
    const loaded = await loadSettings(home, undefined)
    return loaded.ok ? probe(world, options, loaded.value.settings) : loaded
  })

async function probe(
  world: CliWorld,
  parsed: CommandInput<typeof CACHE_PROBE>['options'],
  settings: Settings,
): Promise<Result<number>> {
  const { vary, dryRun, live } = parsed
  const target = await targetOf(world, parsed, settings)
  if (!target.ok) return target
  const to = target.value.credentials?.baseUrl ?? REHEARSAL
  const plan = probePlan(vary, target.value)
  const { variants, ...rest } = plan
  const names = variants.map(({ name }) => name)
  const output = { dry_run: dryRun, live, plan: { ...rest, to, variants: names } }
  const colour = wantsColour(world, world.streams.stdout, settings.display?.colour)
  if (dryRun) return answer(world, output, () => terminalText(planLines(plan, to), colour))
  const { signal, stopListening } = stopOnSignals(world)
  const running = () => bothRuns(world, plan, target.value, signal)
  const runs = await withProgress(world, 'Running both variants', running).finally(stopListening)
  if (!runs.ok) return runs
  const compared = compareRuns(vary, ...runs.value)
  if (!compared.ok) return compared
  const well = compared.value.runs.every(isWellBehaved)
  const comparison = { ...compared.value, behaved: well }
  answer(world, { ...output, comparison }, () =>
    terminalText([...planLines(plan, to), [], ...comparisonLines(compared.value)], colour),
  )
  return ok(well ? EXIT.done : EXIT.failed)
}

const REHEARSAL = 'served locally by the offline demo model'

async function targetOf(
  world: CliWorld,
  { vary, live }: CommandInput<typeof CACHE_PROBE>['options'],
  settings: Settings,
): Promise<Result<ProbeTarget>> {
  const known = await world.models(settings.models ?? {})
  const defaultOf = (name: string) => known.rows(name).find((row) => row.default)?.id
  if (live) return liveTarget(vary, { env: world.env, settings, defaultOf })
  const provider: RemoteProvider = REHEARSAL_PROVIDERS[vary]
  const model = defaultOf(provider)
  if (model !== undefined) return ok({ provider, model })
  return failed('not_configured', `No model is known for provider ${provider}.`, { provider })
}
