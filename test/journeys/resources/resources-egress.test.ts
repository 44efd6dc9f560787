import { rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import { lastAnswer, picture, say } from '../../support/resources/sample-files.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { visionPlace, sha256 } from '../../support/resources/vision-place.ts'
import { value } from '../../support/log/story.ts'
import { WAYS } from '../../support/providers/ways.ts'

// Attachments of the agent to its answer.

function ingested(session: Session) {
  return session.events.flatMap((e) => (e.type === 'resource_ingested' ? [e.data] : []))
}

test.each(WAYS)(
  '[SR-029] %s: a file that the agent attaches is stored unchanged, has a handle, and can be viewed like any other',
  async (way) => {
    const place = await visionPlace(way)
    const chart = picture(4)
    await writeFile(join(place.workspace, 'chart.png'), chart)
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Attach chart.png to your answer.')).toBe('completed')
    await rm(join(place.workspace, 'chart.png'))
    expect(ingested(session).map(({ origin, descriptor }) => [origin, descriptor.handle])).toEqual([
      ['egress', '@img1'],
    ])
    const answered = session.events.findLast((e) => e.type === 'assistant_message')
    expect(answered?.data.resources?.map(({ handle }) => handle)).toEqual(['@img1'])
    expect(value(await session.resourceBytes('@img1')).equals(chart)).toBe(true)
    const listed = value(await session.resources())
    expect(listed.map(({ by, descriptor }) => [by, descriptor.name])).toEqual([
      ['agent', 'chart.png'],
    ])
    // Attaching shows a model nothing.
    expect(place.seen.flatMap(({ files }) => files)).toEqual([])
    expect(await say(session, 'View @img1')).toBe('completed')
    expect(place.seen.at(-1)?.files).toEqual([`@img1 ${sha256(chart)}`])
    expect(lastAnswer(session)).toContain('@img1 is a PNG picture')
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[SR-013] %s: attachments of the agent are refused for the same reasons as those of a person, and never leave the workspace',
  async (way) => {
    const place = await visionPlace(way)
    await writeFile(join(place.root, 'secret.txt'), 'not yours')
    await writeFile(join(place.workspace, 'b.png'), 'no picture')
    await writeFile(join(place.workspace, 'c.zip'), 'no text')
    await symlink('../secret.txt', join(place.workspace, 'd.txt'))
    const session = value(await place.harness.create(place.begin))
    for (const name of ['b.png', 'c.zip', 'd.txt', 'nowhere.csv', '../secret.txt'])
      expect(await say(session, `Attach ${name}`)).toBe('completed')
    const codes = session.events.flatMap((e) =>
      e.type === 'tool_result' ? [e.data.error?.details?.['code'] ?? e.data.error?.kind] : [],
    )
    expect(codes).toEqual([
      'type_mismatch',
      'unsupported_type',
      'symlink',
      'not_found',
      'outside_workspace',
    ])
    expect(ingested(session)).toEqual([])
    await verified(place, session)
  },
)

test.each(WAYS)(
  '%s: attachments before a Turn reached its limit, or was interrupted, are not lost',
  async (way) => {
    const doing: { session?: Session; interrupts: boolean } = { interrupts: false }
    const limits = { provider_calls: 1, retries: 0 }
    const limited = await visionPlace(way, { changes: { model: { limits } } })
    await writeFile(join(limited.workspace, 'a.csv'), 'x,y\n1,2\n')
    const first = value(await limited.harness.create(limited.begin))
    expect(await say(first, 'Attach a.csv')).toBe('call_limit')
    const place = await visionPlace(way, {
      // The second request of the Turn; the first one led to the call.
      onSeen: () =>
        doing.interrupts && ingested(open()).length > 0 ? open().interrupt() : undefined,
    })
    const open = () => {
      if (doing.session === undefined) throw new Error('nothing is open yet')
      return doing.session
    }
    await writeFile(join(place.workspace, 'a.csv'), 'x,y\n1,2\n')
    doing.session = value(await place.harness.create(place.begin))
    doing.interrupts = true
    expect(await say(open(), 'Attach a.csv')).toBe('interrupted')
    for (const session of [first, open()]) {
      const listed = value(await session.resources())
      expect(listed.map(({ descriptor, by }) => [descriptor.handle, by])).toEqual([
        ['@txt1', 'agent'],
      ])
    }
    await verified(place, open())
  },
)
