import { failed, type Failed } from '../../../model/errors.ts'
import { canAsk, askToConfirm } from './confirm.ts'
import type { CliWorld } from '../world/world.ts'

interface TrustQuestion {
  /** What would be trusted. */
  readonly summary: string
  readonly question: string
  /** The command that confirms in advance. */
  readonly command: string
}

/** Shows the summary and asks for confirmation, unless `yes` is set. Returns an error if it is not confirmed. */
export async function unlessSure(
  { streams }: CliWorld,
  yes: boolean,
  { summary, question, command }: TrustQuestion,
): Promise<Failed | undefined> {
  streams.stderr.write(summary)
  if (yes) return undefined
  if (!canAsk(streams)) {
    const message = 'Trust requires confirmation, and there is no terminal to ask. Pass --yes.'
    return failed('invalid_args', message, {}, [{ action: 'Confirm with --yes.', command }])
  }
  const sure = await askToConfirm(streams, question)
  return sure ? undefined : failed('refused', 'Not confirmed; nothing is trusted.')
}
