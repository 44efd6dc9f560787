import * as z from 'zod'
import { userHome } from '../../../host/machine.ts'
import { NextAction } from '../../../model/error-shape.ts'
import { ok, type Result } from '../../../model/errors.ts'
import {
  InstructionRefusal,
  InstructionWithheld,
} from '../../../model/events/instruction-events.ts'
import { Sha256 } from '../../../model/ids.ts'
import { answer, wantsColour } from '../world/answer.ts'
import { terminalText, type Line } from '../text/cell-width.ts'
import { cell } from '../text/columns.ts'
import type { Run } from '../world/command.ts'
import type { DOCTOR } from '../definitions/settings.ts'
import { bundle, redactSecrets, type Secret } from '../doctor/bundle.ts'
import type { Check, Status } from '../doctor/check.ts'
import { examine, type Examination } from '../doctor/examine.ts'
import { EXIT } from '../world/exit-code.ts'
import { withProgress } from '../render/progress.ts'
import { chosenColour } from '../input/setting-values.ts'
import { currentFolder, workspaceOf } from '../world/workspace.ts'
import type { CliWorld } from '../world/world.ts'

export const Output = z.object({
  ok: z.literal(true),
  version: z.string(),
  healthy: z.boolean().describe('True if there are no problems; there may be warnings.'),
  checks: z.array(
    z.object({
      id: z.string(),
      status: z.enum(['ok', 'warning', 'problem']),
      text: z.string(),
      next_actions: z.array(NextAction),
      holds: z
        .array(z.string())
        .optional()
        .describe('For the sandbox: what it prevents on this machine.'),
      does_not_hold: z
        .array(z.string())
        .optional()
        .describe('For the sandbox: what it does not prevent on this machine.'),
      instructions: z
        .array(
          z.object({
            path: z.string(),
            bytes: z.int().optional(),
            content_sha256: Sha256.optional(),
            state: z.enum(['named', 'loaded', 'refused']),
            why: z
              .enum([...InstructionRefusal.options, ...InstructionWithheld.options, 'truncated'])
              .optional(),
          }),
        )
        .optional()
        .describe('The project instructions that apply in this folder.'),
    }),
  ),
  bundle: z.string().optional().describe('The report, with --bundle. It contains no paths.'),
})

/** Checks this machine and this folder. Exit code 1 if there is a problem. */
export const run: Run<typeof DOCTOR> = async (world, { options }) => {
  const workspace = await workspaceOf(world, options.workspace)
  const path = workspace.ok ? ok(workspace.value.path) : workspace
  if (!path.ok && path.error.kind === 'invalid_args') return path
  const found = await withProgress(world, 'Checking', () => examine(world, workspace))
  const healthy = found.checks.every(({ status }) => status !== 'problem')
  const output = { version: world.version, healthy }
  if (options.bundle) {
    const secrets = secretsIn(world, path, found.keys)
    const checks = found.checks.map(({ id, status, plain }) => {
      return { id, status, text: redactSecrets(plain, secrets), next_actions: [] }
    })
    const report = bundle({ version: world.version, ...found, secrets })
    answer(world, { ...output, checks, bundle: report }, () => report)
  } else {
    const checks = found.checks.map((check) => {
      const { id, status, text, next_actions, holds, does_not_hold, instructions } = check
      return { id, status, text, next_actions, holds, does_not_hold, instructions }
    })
    answer(world, { ...output, checks }, () => words(world, found))
  }
  return ok(healthy ? EXIT.done : EXIT.failed)
}

const SECRET_NAME = /key|token|secret|password|passwd|credential/i

/** A second safeguard: none of these should be in a report in the first place. */
function secretsIn(
  world: CliWorld,
  workspace: Result<string>,
  stored: readonly string[],
): Secret[] {
  const environmentKeys = Object.entries(world.env).flatMap(([name, value]) =>
    value !== undefined && SECRET_NAME.test(name) ? [value] : [],
  )
  const keys = [...environmentKeys, ...stored].map((text) => ({ text, instead: '(hidden)' }))
  const standing = currentFolder(world)
  const places = [
    { text: workspace.ok ? workspace.value : '', instead: '<workspace>' },
    { text: standing.ok ? standing.value : '', instead: '<workspace>' },
    { text: world.home, instead: '<home of hawser>' },
    { text: userHome() ?? '', instead: '~' },
  ]
  return [...keys, ...places]
}

function words(world: CliWorld, { checks, settings }: Examination): string {
  const { stdout } = world.streams
  const colour = wantsColour(world, stdout, chosenColour(settings))
  return terminalText(checks.flatMap(linesOf), colour)
}

const COLOURS = { ok: 'green', warning: 'yellow', problem: 'red' } as const satisfies Record<
  Status,
  string
>

function linesOf({
  id,
  status,
  text,
  next_actions,
  holds = [],
  does_not_hold = [],
}: Check): Line[] {
  const title = [
    ...cell(status.padEnd(9), { colour: COLOURS[status] }),
    ...cell(id.padEnd(13), { bold: true }),
    ...cell(text),
  ]
  const next = next_actions.map(({ action, command }) =>
    cell(`${' '.repeat(22)}-> ${action}${command === undefined ? '' : ` ${command}`}`),
  )
  const facts = [
    ...holds.map((fact) => `guaranteed: ${fact}`),
    ...does_not_hold.map((fact) => `not prevented: ${fact}`),
  ]
  return [title, ...facts.map((fact) => cell(`${' '.repeat(22)}${fact}`)), ...next]
}
