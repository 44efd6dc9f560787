import type { Streams } from '../../../host/streams.ts'
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
  const line = await typedLine(streams, { question: prompt, shown: true, longest: LONGEST_ANSWER })
  return /^y(es)?$/i.test(line?.trim() ?? '')
}

const LONGEST_ANSWER = 20
