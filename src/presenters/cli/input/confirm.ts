import type { Streams } from '../../../host/streams.ts'
import { failed, type Failed } from '../../../model/errors.ts'
import type { CliWorld } from '../world/world.ts'
import { typedLine } from './typed-line.ts'

/** Whether there is a terminal to ask at. */
export function canAsk({ stdin, stderr }: Pick<Streams, 'stdin' | 'stderr'>): boolean {
  return stdin.isTTY && stderr.isTTY
}

/** Asks on standard error; only `y` or `yes` confirms. */
export async function askToConfirm(
  streams: Pick<Streams, 'stdin' | 'stderr'>,
  question: string,
): Promise<boolean> {
  const prompt = `${question} [y/N] `
  const line = await typedLine(streams, { question: prompt, echo: true, longest: LONGEST_ANSWER })
  return /^y(es)?$/i.test(line?.trim() ?? '')
}

const LONGEST_ANSWER = 20

interface Confirmation {
  readonly question: string
  /** The command that confirms in advance. */
  readonly command: string
  /** The error without a terminal to ask at, and what it is about. */
  readonly withoutTerminal: string
  readonly details?: Readonly<Record<string, unknown>>
  /** What did not happen without a yes. */
  readonly withoutYes: string
}

/** Asks for confirmation. Returns an error if it is not given. */
export async function unlessConfirmed(
  { streams }: Pick<CliWorld, 'streams'>,
  { question, command, withoutTerminal, details, withoutYes }: Confirmation,
): Promise<Failed | undefined> {
  if (!canAsk(streams))
    return failed('invalid_args', withoutTerminal, details, [
      { action: 'Confirm with --yes.', command },
    ])
  const isConfirmed = await askToConfirm(streams, question)
  return isConfirmed ? undefined : failed('refused', `Not confirmed; ${withoutYes}.`)
}

interface TrustQuestion extends Pick<Confirmation, 'question' | 'command'> {
  /** What would be trusted. */
  readonly summary: string
}

/** Shows what would be trusted and asks for confirmation, unless `yes` is set. Returns an error if it is not given. */
export async function unlessSure(
  world: Pick<CliWorld, 'streams'>,
  yes: boolean,
  { summary, ...asking }: TrustQuestion,
): Promise<Failed | undefined> {
  world.streams.stderr.write(summary)
  if (yes) return undefined
  const withoutTerminal =
    'Trust requires confirmation, and there is no terminal to ask. Pass --yes.'
  return unlessConfirmed(world, { ...asking, withoutTerminal, withoutYes: 'nothing is trusted' })
}
