import type { AdmitOptions } from '../../../src/session/admission/admit-options.ts'
import type { Session } from '../../../src/session/session.ts'
import { value } from '../log/story.ts'

/** How a Turn ended: its status, or the kind of its error. */
export async function say(
  session: Session,
  text: string,
  options: AdmitOptions = {},
): Promise<string> {
  const ended = value(await value(await session.admit(text, options)).done)
  return ended.error === undefined ? ended.status : ended.error.kind
}

/** Text of about that many bytes that no other call returns. */
export function filler(topic: string, bytes: number): string {
  const line = `${topic}: the tide turns, and the log of the harbour says so.\n`
  return line.repeat(Math.ceil(bytes / line.length))
}
