import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import { VENDOR_DIALECTS } from '../../support/providers/dialects.ts'
import { openRehearsal } from '../../support/providers/rehearsal-server.ts'
import { value } from '../../support/log/story.ts'
import { vendorPlace } from '../../support/providers/vendor-place.ts'

async function say(session: Session, text: string): Promise<string> {
  const ended = value(await value(await session.admit(text)).done)
  const { status, error } = ended
  return error === undefined ? status : `${status} ${error.kind} ${error.message}`
}

function answers(session: Session): string[] {
  return session.events.flatMap((e) => (e.type === 'assistant_message' ? [e.data.text] : []))
}

test.each(VENDOR_DIALECTS)(
  '%s: the offline model on the wire accepts every request of a Session, and follows the prompts',
  async (dialect) => {
    const vendor = await openRehearsal()
    const place = await vendorPlace(vendor)
    await writeFile(join(place.workspace, 'a.txt'), 'the first line\n')
    const session = value(await place.harness.create({ provider: dialect, model: 'a-model' }))
    expect(await say(session, 'Read a.txt and list all files, then search for "first".')).toBe(
      'completed',
    )
    expect(await say(session, 'Read nowhere.txt')).toBe('completed')
    expect(await say(session, 'Who are you?')).toBe('completed')
    await session.close()
    const outcomes = session.events.flatMap((e) =>
      e.type === 'tool_result' ? [[e.data.name, e.data.outcome]] : [],
    )
    expect(outcomes).toEqual([
      ['read', 'ok'],
      ['glob', 'ok'],
      ['grep', 'ok'],
      ['read', 'failed'],
    ])
    expect(answers(session).join('\n')).toContain('the first line')
    expect(answers(session).join('\n')).toContain('Failed: read nowhere.txt')
    expect(vendor.violations).toEqual([])
    const used = session.events.flatMap((e) => (e.type === 'provider_usage' ? [e.data.usage] : []))
    expect(used).toHaveLength(vendor.requests.length)
    // Every call finds the previous request in the cache, in the steps that the vendor counts.
    const step = dialect === 'messages' ? 1 : 128
    expect(used.slice(1).map(({ cached_read }) => cached_read)).toEqual(
      used.slice(0, -1).map(({ input }) => input - (input % step)),
    )
  },
)
