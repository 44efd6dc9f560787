import type { SessionUpdate as Update } from '@agentclientprotocol/sdk'
import { shorten } from '../../encoding/quote.ts'

export type Severity = 'info' | 'warning' | 'error'

const TITLE_BYTES = 160

/** A live message for the person. Only for clients that offer to show notices. Pure. */
export function notice(severity: Severity, text: string, meta?: object): Update {
  const [first = ''] = text.trim().split('\n')
  const title = shorten(first === '' ? 'Notice' : first, TITLE_BYTES)
  return {
    sessionUpdate: 'notice',
    severity,
    title,
    ...(title === text.trim() ? {} : { description: text }),
    ...(meta === undefined ? {} : { _meta: { hawser: meta } }),
  }
}
