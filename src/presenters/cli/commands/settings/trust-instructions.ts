import { resolve } from 'node:path'
import { fileSize } from '../../../../encoding/amounts.ts'
import { OWN_PATH } from '../../../../prompt/words/instructions.ts'
import { timestamp } from '../../../../host/clock.ts'
import { closing } from '../../../../host/files/files.ts'
import { readTrustedInstructions, trustInstructions } from '../../../../host/trust.ts'
import { failed, ok, type Result } from '../../../../model/errors.ts'
import {
  applyingInstructions,
  type ApplyingInstructions,
} from '../../../../session/queries/applying-instructions.ts'
import { withInstructions } from '../../../../session/workspace/instructions.ts'
import { unlessSure } from '../../input/confirm.ts'
import { visibleLine } from '../../text/visible-text.ts'
import { answer } from '../../world/answer.ts'
import type { CommandInput, Run } from '../../world/command.ts'
import type { TRUST } from '../../definitions/settings.ts'
import { workspaceOf } from '../../world/workspace.ts'
import type { CliWorld, OpenedHome } from '../../world/world.ts'

/** Trusts the project instructions of the repository that apply in this folder, as they are now. */
export const trustHere: Run<typeof TRUST> = async (world, { args: [named], options }) => {
  if (named !== undefined)
    return failed('invalid_args', '--instructions cannot be combined with a Session.')
  const home = await world.openHome()
  if (!home.ok) return home
  return closing(home.value, (opened) => trustWith(world, opened, options))
}

async function trustWith(
  world: CliWorld,
  { folder: home, ids }: OpenedHome,
  { yes, workspace: chosen }: CommandInput<typeof TRUST>['options'],
): Promise<Result<number>> {
  const found = await workspaceOf(world, chosen)
  if (!found.ok) return found
  const { path, folder } = found.value
  const place = {
    workspace: resolve(path),
    home,
    homePath: world.home,
    settings: { settings: {} },
  }
  const here = await withInstructions(place, async (parts, root) => {
    const applying = await applyingInstructions(parts, { folder })
    return applying.ok ? ok({ root, applying: applying.value }) : applying
  })
  if (!here.ok) return here
  if (!here.value.ok) return here.value
  const { root, applying } = here.value.value
  const known = await readTrustedInstructions(home, root)
  if (!known.ok) return known
  const isKnown = (file: ContentToTrust) =>
    known.value.some(({ path: at, sha256 }) => at === file.path && sha256 === file.sha256)
  const waiting = applying.flatMap(toTrust).filter((file) => !isKnown(file))
  const what = { what: 'instructions' }
  if (waiting.length === 0) return answer(world, { ...what, changed: false }, () => NOTHING_WAITS)
  const refused = await unlessSure(world, yes, {
    summary: `Untrusted project instructions, from the root of the workspace to this folder:\n${waiting.map(lineOf).join('')}`,
    question: 'Trust these files as they are now, so that their text may be loaded?',
    command: 'hawser trust --instructions --yes',
  })
  if (refused !== undefined) return refused
  const at = timestamp(world.clock)
  const files = waiting.map((file) => ({ path: file.path, sha256: file.sha256 }))
  const done = await trustInstructions(
    home,
    root,
    files.map((file) => ({ ...file, at })),
    ids,
  )
  if (!done.ok) return done
  const names = files.map((file) => visibleLine(file.path)).join(', ')
  const words = () => `Trusted project instructions: ${names}.\n`
  return answer(world, { ...what, changed: true, files }, words)
}

interface ContentToTrust {
  readonly path: string
  readonly sha256: string
  readonly bytes: number
}

/** The person's own file needs no trust. */
function toTrust({ path, content_sha256, bytes = 0 }: ApplyingInstructions): ContentToTrust[] {
  if (path === OWN_PATH || content_sha256 === undefined) return []
  return [{ path, sha256: content_sha256, bytes }]
}

function lineOf({ path, sha256, bytes }: ContentToTrust): string {
  return `  ${visibleLine(path)} (${fileSize(bytes)}, sha256 ${sha256})\n`
}

const NOTHING_WAITS = 'No untrusted project instructions apply in this folder.\n'
